#!/usr/bin/env bash
# What stockade-mpi does when something goes wrong: on the command line, on one rank, with a rank or with all of them.
#
# usage: cli_faults.sh IMPLEMENTATION MPIRUN STOCKADE_MPI STOCKADE
source "$(dirname "$0")/cli_launch.sh"

host=$(uname -n)
# After an exit status other than 0 Open MPI would wait a second for ranks that are gone already.
export OMPI_MCA_odls_base_sigkill_timeout=0

begin usage
run 2 encrypt -k key --no-such-option in
expect_error 2 "unknown option '--no-such-option'"
run 2 encrypt -k key --schedule sometimes in
expect_error 2 "--schedule: 'sometimes' is neither dynamic nor static"
run 2 encrypt in
expect_error 1 "cannot open 'in'"
echo text >in
run 2 encrypt in
expect_error 2 "there is nobody to encrypt for"
run 2 encrypt -k missing in
expect_error 1 "cannot read the key file 'missing'"
run 2 encrypt -k key -o - in
expect_error 2 "many ranks cannot write to standard output"
echo mine >in.stk
run 2 encrypt -k key in
expect_error 2 "the output 'in.stk' exists"
[[ $(<in.stk) == mine ]] || fail "the output was overwritten"
run 2 encrypt -k key in -o in
expect_error 2 "input and output are the same file"

begin wrong_key
echo text >in
"$stockade" encrypt -q -k key in
run 3 decrypt -k other in.stk -o back
expect_error 4 "no key that was given opens 'in.stk'"
expect_nothing back

begin damage
head -c 4000000 /dev/urandom >in
"$stockade" encrypt -q -k key in
printf 'xx' | dd of=in.stk bs=1 seek=1000000 conv=notrunc status=none
printf 'xx' | dd of=in.stk bs=1 seek=3000000 conv=notrunc status=none
run 3 decrypt -k key in.stk -o back
expect_error 3 "(rank [0-9]+ on $host: )?'in.stk': chunk 60 at offset"
expect_nothing back
"$stockade" verify -q -k key in.stk >expected 2>/dev/null
run 3 verify -k key in.stk
expect_error 3 "'in.stk' is damaged: 2 bad chunks"
expect_same expected out
head -c 3000000 in.stk >short.stk
run 2 decrypt -k key short.stk -o back
expect_status 3
expect_nothing back

begin rank_without_input
mkdir elsewhere
head -c 3000000 /dev/urandom >in
wrap 1 'cd elsewhere'
run_as ./wrapper 3 encrypt -k "$PWD/key" in -o "$PWD/in.stk"
expect_error 1 "rank 1 on $host: cannot open 'in': no such file or directory"
expect_nothing in.stk

begin rank_with_other_input
mkdir elsewhere
head -c 3000000 /dev/urandom >in
head -c 3000001 /dev/urandom >elsewhere/in
wrap 1 'cd elsewhere'
run_as ./wrapper 3 encrypt -k "$PWD/key" in -o "$PWD/in.stk"
expect_error 1 "rank 1 on $host: 'in' is not the file that rank 0 has opened"
cp in elsewhere/in
touch -d '1 hour ago' elsewhere/in
run_as ./wrapper 3 encrypt -k "$PWD/key" in -o "$PWD/in.stk"
expect_error 1 "rank 1 on $host: 'in' is not the file that rank 0 has opened"
expect_nothing in.stk

begin rank_with_other_output
mkdir elsewhere
head -c 3000000 /dev/urandom >in
cp -p in elsewhere/in
wrap 1 'cd elsewhere'
for resume in '' --resume; do
  run_as ./wrapper 2 encrypt -k "$PWD/key" $resume in
  expect_error 1 "rank 1 on $host: cannot open '.*', which rank 0 has made"
  expect_nothing in.stk
done

begin rank_without_space
truncate -s 100M in
# 32 MiB, of which MPI itself may need some for shared memory; the rank's share is the second half of the file.
wrap 1 'ulimit -f 32768'
run_as ./wrapper 2 encrypt -k key --schedule static in
expect_error 1 "rank 1 on $host: cannot write 'in.stk': file too large"
expect_nothing in.stk
head -c 32 /dev/urandom >raw.key
run_as ./wrapper 2 raw encrypt --cipher aes-256-ctr --key-file raw.key --iv 000102030405060708090a0b0c0d0e0f \
  --schedule static in -o in.ctr
expect_error 1 "rank 1 on $host: cannot write 'in.ctr': file too large"
expect_nothing in.ctr

begin other_version
version=$("$program" --version | sed -n '1s/^stockade-mpi //p')
sed "s/${version//./\\.}/9${version:1}/g" "$program" >other_program
chmod +x other_program
[[ $(./other_program --version | head -1) == "stockade-mpi 9${version:1}" ]] || fail "there is no other version"
echo text >in
wrap 1 "program=$PWD/other_program"
run_as ./wrapper 3 encrypt -k key in
expect_error 1 "the ranks run different versions of stockade-mpi"
expect_nothing in.stk

# ---- killed in mid-job -----------------------------------------------------------------------------------------------

unset OMPI_MCA_odls_base_sigkill_timeout

# A job that takes its time on any machine: the plain implementation, a file without content, and ranks that everyone else
# on a busy machine goes before, this shell above all.
slow_job() {
  rm -f in in.stk .in.stk.* .stockade-* pid.*
  truncate -s "$1M" in
  export STOCKADE_FORCE=aes:portable,gcm:portable
  wrap every 'renice -n 5 $$ >/dev/null'
}

# Sends a signal to every rank that is there.
signal_ranks() {
  local file
  for file in pid.*; do
    [[ -s $file ]] && kill "-$1" "$(<"$file")" 2>/dev/null
  done
}

# No process is started for it, which would take its time on a busy machine.
exec {silence}<> <(:)
doze() { read -rt 0.02 -u "$silence"; }

# Some slices are done: the journal has been written to after it was made, which may itself be seen as one change. And half of
# the work is not: who is stopped behind its last slice has nothing left that could be interrupted.
has_slices() {
  local now
  [[ -s .in.stk.stockade-journal ]] || return 1
  now=$(cksum <.in.stk.stockade-journal)
  [[ -z $last || $now == "$last" ]] || changes+=1
  last=$now
  ((changes >= 2)) && (($(stat -c %b .in.stk.stockade-partial) * 512 < size * 1048576 / 2))
}

# Some MiB of the output are written.
has_output() {
  local file blocks
  for file in .stockade-*; do
    blocks=$(stat -c %b "$file" 2>/dev/null) && ((blocks >= 8192)) && return 0
  done
  return 1
}

# Whether the job that `runner` has started was stopped in the middle: all ranks, so that nothing more happens before they
# are killed. `$1` says when that is, and is asked while they stand still, as soon as there is a file `$2`.
catch_job() {
  local last=
  local -i tries=0 changes=0
  while ((++tries < 2500)) && kill -0 "$runner" 2>/dev/null; do
    doze
    compgen -G "$2" >/dev/null || continue
    signal_ranks STOP
    [[ ! -e in.stk ]] && "$1" && return 0
    signal_ranks CONT
  done
  return 1
}

# start_job WHEN FILE RANKS ARGUMENT...: starts a job, of which `runner` is the launcher's process, and catches it. One that
# is over too early, since this shell had to wait while the ranks went on, is followed by one twice as long.
start_job() {
  local when=$1 file=$2 ranks=$3 size
  shift 3
  for size in 160 320 640 1280; do
    slow_job "$size"
    "$mpirun" -n "$ranks" ${launch[@]+"${launch[@]}"} ./wrapper "$@" >out 2>err </dev/null &
    runner=$!
    catch_job "$when" "$file" && return 0
    await_end
    [[ $status == 0 ]] || break
  done
  fail "the job was over before it could be killed, or did not begin"
  rm -f pid.*
  return 1
}

# Waits until the launcher and all ranks are gone; those that outlive it are ended, each by its number.
await_end() {
  signal_ranks CONT
  wait "$runner"
  status=$?
  local file
  for file in pid.*; do
    for _ in {1..250}; do
      kill -0 "$(<"$file")" 2>/dev/null || continue 2
      sleep 0.02
    done
    kill -9 "$(<"$file")" 2>/dev/null
  done
}

expect_resumed() {
  unset STOCKADE_FORCE
  [[ ! -e in.stk ]] || fail "a half-written file has the name of the output"
  [[ -s .in.stk.stockade-journal && -e .in.stk.stockade-partial ]] || fail "there is nothing to go on with"
  head -c 1080 .in.stk.stockade-partial >beginning
  if (($1 == 1)); then
    "$program" encrypt -k key --resume in >out 2>err </dev/null
    status=$?
  else
    run "$1" encrypt -k key --resume in
  fi
  expect_status 0
  # What was sealed and not recorded as done is read back, so the number of slices that are done may be 0.
  grep -Eq "^stockade: note: going on with 'in.stk': [0-9]+ of [0-9]+ slices are done" err &&
    cmp -s beginning <(head -c 1080 in.stk) || fail "it did not go on with what was begun"
  "$stockade" decrypt -q -k key in.stk -o back && expect_same in back
  expect_nothing nothing
}

begin killed_rank
start_job has_slices .in.stk.stockade-journal 2 encrypt -k key --resume in
kill -9 "$(<pid.1)"
await_end
[[ $status != 0 ]] || fail "the run passed for a success"
expect_resumed 3

begin killed_launcher
start_job has_slices .in.stk.stockade-journal 3 encrypt -k key --resume in
kill -9 "$runner"
# Ranks that do not notice would complete the file by themselves, which is no harm and no test.
signal_ranks KILL
await_end 2>/dev/null
expect_resumed 1

begin killed_without_journal
start_job has_output '.stockade-*' 2 encrypt -k key in
kill -9 "$(<pid.1)"
await_end
[[ $status != 0 ]] || fail "the run passed for a success"
[[ ! -e in.stk ]] || fail "a half-written file has the name of the output"

begin interrupted
start_job has_slices .in.stk.stockade-journal 2 encrypt -k key --resume in
# As from a scheduler, to all ranks.
signal_ranks TERM
await_end
[[ $status != 0 ]] || fail "the run passed for a success"
grep -q '^stockade: error: interrupted' err || fail "nothing is said of it"
expect_resumed 2

begin interrupted_launcher
start_job has_slices .in.stk.stockade-journal 2 encrypt -k key --resume in
# As from a terminal, to the launcher too, which may end before it has passed on a message or an exit status.
# The ranks first, while they stand still: a launcher that ends has them go on before it ends them, and they might be done.
signal_ranks TERM
kill -TERM "$runner"
await_end
expect_resumed 2

begin another_job
start_job has_slices .in.stk.stockade-journal 2 encrypt -k key --resume in
kill -9 "$(<pid.0)"
await_end
unset STOCKADE_FORCE
run 2 encrypt -k other --resume in
expect_error 1 "the journal of 'in.stk' is damaged, or of another job"
touch in
run 2 encrypt -k key --resume in
expect_error 1 "'in' has changed since the interrupted run"
run 2 encrypt -k key --resume --force in
expect_status 0
"$stockade" decrypt -q -k key in.stk -o back && expect_same in back
expect_nothing nothing
finish
