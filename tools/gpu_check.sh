#!/usr/bin/env bash
# Checks Stockade on a machine with an NVIDIA GPU: builds, runs the tests of the device whole and then small under
# compute-sanitizer, counts bank conflicts, measures, and prints one table. Ends within 10 minutes.
#
# usage: tools/gpu_check.sh [--build-dir DIR] [--no-build] [--commit ID] [--quick]
#   --build-dir DIR  where the build is or will be; default build-gpu
#   --no-build       the programs are in DIR/bin already; LD_LIBRARY_PATH may say where their libraries are
#   --commit ID      what these were built from; default what is checked out here
#   --quick          fewer random cases, none past 4 GiB, and a short measurement
#
# The exit status is 0 only if no step failed; a step without its tool is skipped and says so.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build-gpu
build_first=yes
quick=no
commit=
usage() {
  sed -n 's/^# \{0,1\}//; 2,11p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
while (($# > 0)); do
  case $1 in
    --build-dir)
      [[ -n ${2:-} ]] || usage
      build=$(realpath -m "$2")
      shift
      ;;
    --no-build) build_first=no ;;
    --commit)
      [[ -n ${2:-} ]] || usage
      commit=$2
      shift
      ;;
    --quick) quick=yes ;;
    *) usage ;;
  esac
  shift
done

# Seconds: of the whole check, and each step's share at most.
total_limit=570 build_limit=230 tests_limit=200 sanitizer_limit=150 conflicts_limit=60 measuring_limit=180
tests_scale=100 sanitizer_scale=3
bench_options=()
if [[ $quick == yes ]]; then
  tests_scale=20 sanitizer_scale=1
  bench_options=(--quick)
fi
tests=$build/bin/stockade_cuda_tests
stockade=$build/bin/stockade
# The programs may have been built elsewhere.
export STOCKADE_TEST_VECTORS=$root/tests/vectors

folder=$(mktemp -d "${TMPDIR:-/tmp}/stockade-gpu-check.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

failures=0
table=()

# report VERDICT STEP NOTE: one line of the table; the verdict is ok, FAILED or skipped.
report() {
  table+=("$(printf '  %-8s %-34s %s' "$1" "$2" "$3")")
  [[ $1 != FAILED ]] || failures=$((failures + 1))
  printf -- '---- %s: %s%s\n' "$2" "$1" "${3:+, $3}"
}

# attempt LIMIT COMMAND...: runs the command into $folder/log, and shows the log's end if it fails. The status is the
# command's; `took` says how long it was, and `why` why it failed.
attempt() {
  local limit=$1 start=$SECONDS status=0 left
  shift
  left=$((total_limit - SECONDS))
  ((limit <= left)) || limit=$left
  if ((limit < 5)); then
    took="0 s" why="no time was left"
    return 124
  fi
  timeout --kill-after=5 "$limit" "$@" >"$folder/log" 2>&1 || status=$?
  took="$((SECONDS - start)) s"
  why="exit status $status after $took"
  [[ $status != 124 && $status != 137 ]] || why="stopped after $limit s"
  ((status == 0)) || tail -n 60 "$folder/log"
  return "$status"
}

section() { printf '\n==== %s (%d s) ====\n' "$*" "$SECONDS"; }

# ask FIELD: of the first GPU, by nvidia-smi.
ask() { timeout 20 nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1 || true; }

describe() {
  section "machine"
  gpu='' driver=''
  if command -v nvidia-smi >/dev/null; then
    gpu=$(ask name) driver=$(ask driver_version)
  fi
  if [[ -z $commit ]]; then
    commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
    [[ -z $(git -C "$root" status --porcelain 2>/dev/null || true) ]] || commit="$commit with changes"
  fi
  machine="$(awk -F': ' '/^model name/ {print $2; exit}' /proc/cpuinfo), $(nproc) cores, $(uname -sr)"
  date=$(date -u '+%Y-%m-%d %H:%M UTC')
  printf '%s\nGPU: %s, driver %s\ncommit %s\n' "$machine" "${gpu:-unknown}" "${driver:-unknown}" "$commit"
}

# This GPU's own code is enough here, and is built in a fraction of the time.
architectures() {
  case $(ask compute_cap) in
    9.0) echo 90a-real ;;
    7.5 | 8.0 | 8.6 | 8.9) ask compute_cap | sed 's/\.//; s/$/-real/' ;;
  esac
}

build_programs() {
  section "build"
  if [[ $build_first == no ]]; then
    report skipped "build" "the programs are from elsewhere"
    return
  fi
  local narrow targets=(stockade_cuda_tests stockade_cli)
  narrow=$(architectures)
  local configure=(cmake -S "$root" -B "$build" -DSTOCKADE_CUDA=ON ${narrow:+"-DSTOCKADE_CUDA_ARCHITECTURES=$narrow"})
  if attempt "$build_limit" "${configure[@]}" &&
    attempt "$build_limit" cmake --build "$build" -j "$(nproc)" --target "${targets[@]}"; then
    report ok "build" "${narrow:-all architectures}"
  else
    report FAILED "build" "$why"
  fi
}

run_tests() {
  section "tests on the device"
  local step="tests on the device" status=0
  if [[ ! -x $tests ]]; then
    report FAILED "$step" "there is no $tests"
    return
  fi
  STOCKADE_TEST_SCALE=$tests_scale attempt "$tests_limit" "$tests" --gtest_brief=1 || status=$?
  usable=no
  if ((status == 77)); then
    report FAILED "$step" "$(grep -m 1 '^skipped:' "$folder/log" | sed 's/^skipped: //')"
  elif ((status != 0)); then
    usable=yes
    report FAILED "$step" "$why"
  elif ! grep -q '^\[  PASSED  \] [1-9]' "$folder/log"; then
    report FAILED "$step" "no test has run"
  else
    usable=yes
    grep -E '^on |^STOCKADE_TEST_SEED|PASSED|SKIPPED' "$folder/log"
    report ok "$step" "$(sed -n 's/^\[  PASSED  \] \([0-9]* tests\?\).*/\1/p' "$folder/log"), $took"
  fi
}

# Statuses that calls return are for the tests to judge; those about the driver provoke errors on purpose.
sanitize() {
  local tool=$1 step="compute-sanitizer, $1" status=0
  shift
  section "$step"
  if ! command -v compute-sanitizer >/dev/null; then
    report skipped "$step" "compute-sanitizer is not installed"
    return
  fi
  STOCKADE_TEST_SCALE=$sanitizer_scale attempt "$sanitizer_limit" compute-sanitizer --tool "$tool" --error-exitcode 9 \
    --report-api-errors no "$@" "$tests" --gtest_brief=1 --gtest_filter='AesCuda.*:GcmCuda.*:-*Two*:*EveryShortLength*:*PublishedVectors*' || status=$?
  if grep -qE 'Device not supported|LibraryNotLoaded' "$folder/log"; then
    report skipped "$step" "compute-sanitizer cannot watch this device"
  elif ((status != 0)); then
    report FAILED "$step" "$why"
  elif ! grep -qE '(ERROR|RACECHECK) SUMMARY: 0 ' "$folder/log"; then
    tail -n 20 "$folder/log"
    report FAILED "$step" "its summary is missing"
  elif ! grep -q '^\[  PASSED  \] [1-9]' "$folder/log"; then
    report FAILED "$step" "no test has run"
  else
    report ok "$step" "nothing found, $took"
  fi
}

# Timing does not depend on key and data only if no lane ever waits for another's bank: a load from shared memory is then one
# wavefront. (The counter l1tex__data_bank_conflicts_pipe_lsu_mem_shared tells more than that: it also counts loads that wait
# because global memory's traffic has the pipe.)
count_conflicts() {
  local step="bank conflicts of table kernels" status=0 counts tables loads sum others other_sum unread
  local executed=smsp__inst_executed_op_shared_ld.sum
  local wavefronts=smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
  section "$step"
  if ! command -v ncu >/dev/null; then
    report skipped "$step" "ncu is not installed"
    return
  fi
  STOCKADE_TEST_SCALE=20 attempt "$conflicts_limit" ncu --clock-control none --metrics "$executed,$wavefronts" --csv \
    --print-kernel-base demangled "$tests" --gtest_brief=1 \
    --gtest_filter='AesCuda.DefaultShapes:GcmCuda.LongMessages:GcmCuda.Batches' || status=$?
  if grep -qE 'ERR_NVGPUCTRPERM|LibraryNotLoaded|No kernels were profiled' "$folder/log"; then
    report skipped "$step" "ncu cannot read this device's counters"
    return
  elif ((status != 0)); then
    report FAILED "$step" "$why"
    return
  fi
  # Two lines for each launch, one a metric. Other kernels' counts are told, not judged.
  counts=$(awk -F'","' -v executed="$executed" -v wavefronts="$wavefronts" '/grid_kernel/ {
      value = $NF
      gsub(/[",\r]/, "", value)
      if (value !~ /^[0-9.]+$/ || ($(NF - 2) != executed && $(NF - 2) != wavefronts)) { unread++; next }
      table = $0 ~ /(Ecb|Ctr|Chained|Xts)TableKernel|TweakKernel|StealKernel|BatchKernel/
      if ($(NF - 2) == executed) {
        if (table) { tables++; loads += value; sum -= value } else { others++; other_sum -= value }
      } else if (table) sum += value
      else other_sum += value
    } END { printf "%d %.0f %.0f %d %.0f %d", tables, loads, sum, others, other_sum, unread }' "$folder/log")
  read -r tables loads sum others other_sum unread <<<"$counts"
  local note="$sum in $loads loads of $tables launches ($other_sum in $others of other kernels)"
  if ((tables == 0 || loads == 0 || unread > 0)); then
    tail -n 20 "$folder/log"
    report FAILED "$step" "ncu's answer cannot be read"
  elif ((sum != 0)); then
    grep grid_kernel "$folder/log"
    report FAILED "$step" "$note"
  else
    report ok "$step" "$note"
  fi
}

measure() {
  local step="stockade bench aes --engine cuda"
  section "$step"
  if [[ ! -x $stockade ]]; then
    report skipped "$step" "there is no $stockade"
  elif ! timeout 20 "$stockade" bench aes --help 2>&1 | grep -q -e '--engine'; then
    report skipped "$step" "this stockade does not know it"
  elif attempt "$measuring_limit" "$stockade" bench aes --engine cuda "${bench_options[@]}"; then
    cat "$folder/log"
    report ok "$step" "$took"
  else
    report FAILED "$step" "$why"
  fi
}

describe
usable=no
build_programs
run_tests
if [[ $usable == yes ]]; then
  sanitize memcheck
  sanitize racecheck
  sanitize initcheck
  count_conflicts
  measure
else
  for step in "compute-sanitizer" "bank conflicts of table kernels" "stockade bench aes --engine cuda"; do
    report skipped "$step" "no test ran on a GPU"
  done
fi

printf '\n==== result ====\n'
printf '  machine  %s\n  GPU      %s, driver %s\n  commit   %s\n  date     %s, %d s\n\n' "$machine" "${gpu:-unknown}" \
  "${driver:-unknown}" "$commit" "$date" "$SECONDS"
printf '%s\n' "${table[@]}"
if ((failures > 0)); then
  printf '\ngpu_check: error: %d of the steps failed\n' "$failures" >&2
  exit 1
fi
