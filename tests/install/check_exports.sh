#!/usr/bin/env bash
# The shared library exports the functions of stockade.h: all of them and nothing else.
# usage: check_exports.sh LIBRARY HEADER
set -euo pipefail

exported=$(nm -D --defined-only "$1" | awk '{print $NF}' | sort)
declared=$(grep -o '^STOCKADE_API .*' "$2" | grep -o 'stockade_[a-z0-9_]*(' | tr -d '(' | sort)
[[ -n $declared ]] || { echo "no declaration found in $2" >&2; exit 1; }
diff <(echo "$declared") <(echo "$exported") || { echo "< declared, > exported: they differ" >&2; exit 1; }
echo "$(wc -l <<<"$declared") functions declared and exported"
