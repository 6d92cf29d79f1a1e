#!/usr/bin/env bash
# stockade-mpi makes and opens the files that stockade makes and opens, with any number of ranks.
#
# usage: cli_outputs.sh IMPLEMENTATION MPIRUN STOCKADE_MPI STOCKADE
source "$(dirname "$0")/cli_launch.sh"

# A few MiB that end within a chunk.
random_file() { head -c "$1" /dev/urandom >"$2"; }

begin file
random_file 5000011 in
for ranks in 1 2 3 4 7; do
  run "$ranks" encrypt -f -k key in -o in.stk
  expect_status 0
  "$stockade" decrypt -q -f -k key in.stk -o back || fail "the file of $ranks ranks does not open"
  expect_same in back
  [[ $(stat -c %s in.stk) == "$(stat -c %s "$scratch/file/in.stk")" ]] || fail "another length"
done
"$stockade" encrypt -q -f -k key in -o one.stk
[[ $(stat -c %s in.stk) == "$(stat -c %s one.stk)" ]] || fail "not as long as the file of one process"
for ranks in 1 2 3 4 7; do
  run "$ranks" decrypt -f -k key one.stk -o back --schedule "$( ((ranks % 2 == 0)) && echo static || echo dynamic)"
  expect_status 0
  expect_same in back
  run "$ranks" verify -k key one.stk
  expect_status 0
  [[ $(<out) == "one.stk: intact, 5000011 bytes" ]] || fail "verify says '$(<out)'"
done
expect_nothing nothing

begin same_bytes
# A journal holds file key and salt, so what one number of ranks begins and another ends is one file, and must open.
random_file 3000000 in
for ranks in 1 3; do
  run "$ranks" encrypt -f -k key --resume in -o in.stk
  expect_status 0
  "$stockade" decrypt -q -f -k key in.stk -o back
  expect_same in back
done
expect_nothing nothing

begin edges
for shape in 0:7 1:2 16383:2 16384:3 16385:7; do
  IFS=: read -r length ranks <<<"$shape"
  random_file "$length" in
  run "$ranks" encrypt -f -k key in -o in.stk
  expect_status 0
  "$stockade" decrypt -q -f -k key in.stk -o back
  expect_same in back
  run 3 decrypt -f -k key in.stk -o back
  expect_status 0
  expect_same in back
done

begin raw
random_file $((3 << 20)) whole
random_file $(((3 << 20) + 37)) in
head -c 64 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >hex
iv=$(head -c 16 /dev/urandom | od -An -v -tx1 | tr -d ' \n')
for row in 32:aes-128-ctr:in 64:aes-256-ctr:whole 64:aes-256-ecb:in 48:aes-192-ecb:whole \
  64:aes-256-cbc:in 32:aes-128-cfb:in 128:aes-256-xts:whole 64:aes-256-gcm:in 64:aes-256-ofb:in; do
  IFS=: read -r digits cipher input <<<"$row"
  head -c "$digits" hex >raw.key
  options=(--cipher "$cipher" --key-file raw.key)
  [[ $cipher == *ecb ]] || options+=(--iv "$iv")
  [[ $cipher != *xts ]] || options+=(--data-unit 4096)
  "$stockade" raw encrypt -q -f "${options[@]}" "$input" -o expected || fail "$cipher: stockade itself failed"
  run 3 raw encrypt -f "${options[@]}" "$input" -o made
  expect_status 0
  expect_same expected made
  run 2 raw decrypt -f "${options[@]}" --schedule static expected -o back
  expect_status 0
  expect_same "$input" back
done
# Counters that carry, and units of any length.
head -c 32 hex >raw.key
options=(--cipher aes-128-ctr --key-file raw.key --iv ffffffffffffffffffffffffffff0000)
"$stockade" raw encrypt -q -f "${options[@]}" in -o expected
run 4 raw encrypt -f "${options[@]}" in -o made
expect_same expected made
head -c 128 hex >raw.key
options=(--cipher aes-256-xts --key-file raw.key --iv fffffffffffffffffffffffffffffffe --data-unit 517)
"$stockade" raw encrypt -q -f "${options[@]}" in -o expected
run 4 raw encrypt -f "${options[@]}" in -o made
expect_same expected made
expect_nothing nothing

begin alone
random_file 2000000 in
"$program" encrypt -k key in >out 2>err </dev/null
status=$?
expect_status 0
"$stockade" decrypt -q -k key in.stk -o back
expect_same in back

begin bench_cipher
run 2 bench --quick --json --only distributed,root --ranks 2 --sizes 64KiB --rounds 1 --cipher aes-128-ctr
expect_status 0
python3 - out <<'PYTHON' || fail "the JSON of bench is not as it should be"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["settings"]["cipher"] == "aes-128-ctr"
assert {(point["form"], point["ranks"]) for point in report["results"] if point["scaling"] == "strong"} == {
    ("distributed", 2), ("root", 2)}
PYTHON
finish

begin bench
run 2 bench --quick --json --sizes 64KiB,1MiB --rounds 1 --folder .
expect_status 0
python3 - out <<'PYTHON' || fail "the JSON of bench is not as it should be"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "stockade-bench-mpi/1" and report["mpi"]["ranks"] == 2
forms = {(point["form"], point["ranks"]) for point in report["results"]}
assert forms == {(form, ranks) for form in ("distributed", "root", "file") for ranks in (1, 2)}, forms
assert all(point["seconds_median"] > 0 for point in report["results"])
assert [guess["ranks"] for guess in report["models"][0]["predictions"]][:3] == [64, 1024, 16384]
assert all(model["assumptions"] for model in report["models"])
PYTHON
expect_nothing nothing
finish
