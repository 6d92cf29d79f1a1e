#!/usr/bin/env bash
# Builds the targets by the preset `asan` and runs every one on a copy of its corpus, as many side by side as there are cores.
#
# usage: fuzz/run.sh [--grow] [SECONDS]     for each target, default 60
#   --grow  adds to the corpora the fewest inputs that reach all code which the run has reached
# Exit status 1 for a crash, a corpus without a seed, or a target that ran nothing but its seeds. What made a target crash
# is left in build-asan/crashes/; `build-asan/bin/fuzz_NAME FILE` repeats it.
set -euo pipefail

grow=no
if [[ ${1:-} == --grow ]]; then
  grow=yes
  shift
fi
seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$(nproc)" --target fuzzers -- --quiet

scratch=$(mktemp -d "${TMPDIR:-/tmp}/stockade-fuzz.XXXXXX")
trap 'jobs -p | xargs -r kill 2>/dev/null || true; rm -rf "$scratch"' EXIT
mkdir -p build-asan/crashes
export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

complain() {
  echo "fuzz: error: $*" >&2
  return 1
}

# Runs one target and judges what it says of itself.
fuzz() {
  local name=$1 corpus=fuzz/corpus/$1 seeds executed
  # The testkit is its own corpus.
  [[ $name != open_testkit ]] || corpus=testkit/files
  seeds=$(find "$corpus" -type f -size +0 2>/dev/null | wc -l)
  ((seeds > 0)) || complain "$name: no seed in $corpus" || return 1
  cp -r "$corpus" "$scratch/$name"
  if ! "build-asan/bin/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -max_len=262144 \
    -print_final_stats=1 -artifact_prefix="build-asan/crashes/$name-" "$scratch/$name" >"$scratch/$name.log" 2>&1; then
    tail -n 60 "$scratch/$name.log" >&2
    complain "$name: failed; the input is in build-asan/crashes/" || return 1
  fi
  if [[ $grow == yes && $corpus == fuzz/* ]]; then
    "build-asan/bin/fuzz_$name" -set_cover_merge=1 -max_len=65536 "$corpus" "$scratch/$name" >"$scratch/$name.merge" 2>&1 ||
      complain "$name: the corpus could not be merged" || return 1
  fi
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$name.log")
  ((${executed:-0} > seeds)) || complain "$name: ran ${executed:-0} inputs, with $seeds seeds" || return 1
  echo "fuzz: $name: $seeds seeds, $executed inputs, $(find "$scratch/$name" -type f | wc -l) in the corpus at the end"
}

failed=0
running=0
shopt -s nullglob
for source in fuzz/*.cpp; do
  if ((running == $(nproc))); then
    wait -n || failed=1
    running=$((running - 1))
  fi
  fuzz "$(basename "$source" .cpp)" &
  running=$((running + 1))
done
((running > 0)) || complain "no target" || exit 1
for ((; running > 0; running--)); do
  wait -n || failed=1
done
exit "$failed"
