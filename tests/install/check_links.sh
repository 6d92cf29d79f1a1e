#!/usr/bin/env bash
# Every relative link of the documents leads to a file.
# usage: check_links.sh SOURCE
set -euo pipefail

cd "$1"
links=0
for document in *.md docs/*.md; do
  while read -r target; do
    links=$((links + 1))
    [[ -e $(dirname "$document")/$target ]] || { echo "$document links to $target, which is not there" >&2; exit 1; }
  done < <(grep -o '](\([^)#:]*\))' "$document" | tr -d '()]' || true)
done
((links > 0)) || { echo "no link found" >&2; exit 1; }
echo "$links links"
