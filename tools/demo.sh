#!/usr/bin/env bash
# Encrypts, decrypts, verifies and damages a real file with stockade, and compares its raw modes with `openssl enc`.
#
# usage: tools/demo.sh [STOCKADE]     STOCKADE_DEMO_MIB sets the size of the file, TMPDIR where it is made; else it is made
#                                     in memory if there is room, so that the disk is not what is measured
set -euo pipefail

stockade=$(realpath "${1:-build/bin/stockade}")
mib=${STOCKADE_DEMO_MIB:-256}
rounds=3

fail() {
  echo "demo: error: $*" >&2
  exit 1
}

# Plaintext, two outputs, and one that is about to be replaced.
needed_mib=$((4 * mib + 64))
has_room() { [[ -w $1 ]] && (($(df -Pm "$1" | awk 'NR == 2 {print $4}') > needed_mib)); }
free_memory_mib=$(awk '$1 == "MemAvailable:" {print int($2 / 1024)}' /proc/meminfo)
place=${TMPDIR:-/tmp}
if [[ -z ${TMPDIR:-} ]] && ((free_memory_mib > 2 * needed_mib)) && has_room /dev/shm; then
  place=/dev/shm
fi
has_room "$place" || fail "$place needs $needed_mib MiB of free space; set TMPDIR or a smaller STOCKADE_DEMO_MIB"

folder=$(mktemp -d "$place/stockade-demo.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cd "$folder"

# seconds FILE COMMAND...: runs the command and keeps the shortest time seen so far in FILE.
seconds() {
  local record=$1 start=$EPOCHREALTIME
  shift
  "$@" || fail "this command failed with status $?: $*"
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.4f\n", b - a}' >>"$record"
  sort -g -o "$record" "$record"
}

# openssl enc to the file `peer`, until it is on storage: stockade returns no sooner either.
openssl_enc() { openssl enc "$@" -out peer && sync --data peer; }

# report OPERATION CIPHER VERDICT: one line of the table, from the two records.
report() {
  awk -v operation="$1" -v cipher="$2" -v verdict="$3" -v bytes=$((mib * 1048576)) \
    -v ours="$(head -n 1 ours)" -v theirs="$(head -n 1 theirs)" 'BEGIN {
      printf "  %-8s %-12s %7.3f s %5.2f GB/s   %7.3f s %5.2f GB/s   %5.1fx   %s\n", operation, cipher,
        ours, bytes / ours / 1e9, theirs, bytes / theirs / 1e9, theirs / ours, verdict
    }'
  rm ours theirs
}

echo
echo "A file of $mib MiB of random bytes in $place, on $(nproc) cores; each time is the best of $rounds runs."
head -c "${mib}M" /dev/urandom >plain

# show COMMAND...: prints a command as a user would type it, and runs it.
show() {
  echo "  \$ stockade $*"
  "$stockade" "$@" || fail "this command failed with status $?: stockade $*"
}

echo
show keygen --symmetric -o key
for ((round = 0; round < rounds; ++round)); do
  rm -f plain.stk
  seconds sealing "$stockade" encrypt -k key plain
  rm -f opened
  seconds opening "$stockade" decrypt -k key -o opened plain.stk
  seconds verifying "$stockade" verify -k key plain.stk >verdict
done
cmp -s opened plain || fail "decryption did not give the original back"
speed() { awk -v t="$(<"$1")" -v bytes=$((mib * 1048576)) 'BEGIN {printf "%.3f s, %.2f GB/s", t, bytes / t / 1e9}'; }
for record in sealing opening verifying; do
  head -n 1 $record >best && mv best $record
done
echo "  \$ stockade encrypt -k key plain                  # to plain.stk: $(speed sealing)"
echo "  \$ stockade decrypt -k key -o opened plain.stk    # the original: $(speed opening)"
echo "  \$ stockade verify -k key plain.stk               # writes nothing: $(speed verifying)"
echo
show inspect plain.stk
echo
echo "  \$ stockade decrypt -k key -o - --range $((mib / 2))MiB:20 plain.stk | od -t x1"
"$stockade" decrypt -k key -o - --range $((mib / 2))MiB:20 plain.stk >part
cmp -s part <(tail -c +$((mib * 524288 + 1)) plain | head -c 20) || fail "the range is not what it should be"
od -A d -t x1 part | sed 's/^/    /'

position=$((mib * 524288))
byte=$(od -An -tu1 -j "$position" -N 1 plain.stk)
printf '%b' "\\0$(printf '%o' $((byte ^ 1)))" | dd of=plain.stk bs=1 seek="$position" conv=notrunc status=none
rm opened
echo
echo "One bit is changed in the middle of plain.stk:"
status=0
echo "  \$ stockade decrypt -k key -o opened plain.stk"
"$stockade" decrypt -k key -o opened plain.stk 2>complaint || status=$?
sed 's/^/    /' complaint
[[ $status == 3 ]] || fail "a damaged file gave exit status $status instead of 3"
[[ ! -e opened ]] || fail "a damaged file left an output"
echo "    exit status 3, and no file 'opened'"
echo "  \$ stockade verify -k key plain.stk"
"$stockade" verify -k key plain.stk 2>&1 | sed 's/^/    /' || true
rm -f plain.stk

echo
echo "The modes of AES by themselves are \`stockade raw\`, byte for byte those of $(openssl version | cut -d' ' -f1-2):"
echo
(umask 077 && openssl rand -hex 32 >raw_key)
iv=$(openssl rand -hex 16)
printf '  %-8s %-12s %-20s   %-20s   %6s   %s\n' "" "" "stockade raw" "openssl enc" "faster" "bytes"
for mode in ctr cbc; do
  cipher=aes-256-$mode
  for ((round = 0; round < rounds; ++round)); do
    rm -f sealed peer
    seconds ours "$stockade" raw encrypt --cipher "$cipher" --key-file raw_key --iv "$iv" -o sealed plain
    seconds theirs openssl_enc "-$cipher" -K "$(<raw_key)" -iv "$iv" -in plain
  done
  cmp -s sealed peer || fail "$cipher: stockade and openssl wrote different bytes"
  report encrypt "$cipher" "identical"
  for ((round = 0; round < rounds; ++round)); do
    rm -f opened peer
    seconds ours "$stockade" raw decrypt --cipher "$cipher" --key-file raw_key --iv "$iv" -o opened sealed
    seconds theirs openssl_enc -d "-$cipher" -K "$(<raw_key)" -iv "$iv" -in sealed
  done
  cmp -s opened plain || fail "$cipher: decryption did not give the original back"
  cmp -s peer plain || fail "$cipher: openssl could not decrypt what stockade encrypted"
  report decrypt "$cipher" "the original"
done

echo
echo "What this machine runs (\`stockade info\`):"
"$stockade" info | sed 's/^./  &/'
echo
echo "The files are gone again. Try your own:  build/bin/stockade encrypt --help"
