# What cli_outputs.sh and cli_faults.sh have in common: a scratch folder, runs of stockade-mpi, and what is expected of
# them. Sourced with the arguments IMPLEMENTATION MPIRUN STOCKADE_MPI STOCKADE.
set -u

implementation=$1
mpirun=$2
program=$(realpath "$3")
stockade=$(realpath "$4")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LC_ALL=C
unset STOCKADE_FORCE STOCKADE_MASK STOCKADE_THREADS STOCKADE_DEVICES STOCKADE_PROFILE OMP_NUM_THREADS
unset STOCKADE_PASSPHRASE STOCKADE_PASSPHRASE_FD
launch=()
if [[ $implementation == openmpi ]]; then
  # More ranks than cores, none bound to one.
  launch=(--oversubscribe --bind-to none)
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/stockade-mpi.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
name=

# Begins a case, in a folder of its own that holds key files.
begin() {
  name=$1
  mkdir "$scratch/$name"
  cd "$scratch/$name" || exit 1
  "$stockade" keygen --symmetric -q -o key && "$stockade" keygen --symmetric -q -o other || exit 1
}

fail() {
  printf '%s: %s: %s\n' "$implementation" "$name" "$*"
  if [[ -s err ]]; then sed 's/^/    /' err; fi
  failures=$((failures + 1))
}

# run RANKS ARGUMENT...: stockade-mpi with its output in `out`, its messages in `err` and its exit status in `status`.
run() { run_as "$program" "$@"; }

# The same with another program, such as a script around it.
run_as() {
  local what=$1 ranks=$2
  shift 2
  timeout -k 5 100 "$mpirun" -n "$ranks" ${launch[@]+"${launch[@]}"} "$what" "$@" >out 2>err </dev/null
  status=$?
}

expect_status() { [[ $status == "$1" ]] || fail "exit status $status instead of $1"; }

# One message, whatever the number of ranks, and the launcher's beside it.
expect_error() {
  expect_status "$1"
  [[ $(grep -c '^stockade: error: ' err) == 1 ]] || fail "not one message"
  grep -Eq "^stockade: error: $2" err || fail "no message '$2'"
}

expect_same() { cmp -s "$1" "$2" || fail "'$1' and '$2' differ"; }

# No output, and nothing hidden beside where it should be.
expect_nothing() {
  local left
  left=$(ls -A | grep -E "^($1|\.stockade-.*|\.$1\..*)$")
  [[ -z $left ]] || fail "left behind: $left"
}

# A script that leaves each rank's process number in `pid.RANK`, and runs stockade-mpi, after `$2` on rank `$1` or on every
# one.
wrap() {
  cat >wrapper <<SCRIPT
#!/usr/bin/env bash
rank=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}
program=$program
echo \$\$ >"$PWD/pid.\$rank"
if [[ $1 == every || \$rank == $1 ]]; then
  $2
fi
exec "\$program" "\$@"
SCRIPT
  chmod +x wrapper
}

finish() {
  ((failures == 0)) || exit 1
  printf '%s: all passed\n' "$implementation"
}
