#!/usr/bin/env bash
# Prints a document's code in one language: the blocks fenced with ```LANGUAGE, one after another. Fails if there is none.
# usage: readme_code.sh DOCUMENT LANGUAGE
set -euo pipefail

awk -v fence="\`\`\`$2" '
  inside && /^```$/ { inside = 0; next }
  inside            { print }
  $0 == fence       { inside = 1; blocks++ }
  END               { exit blocks == 0 || inside }' "$1" || { echo "$1: no complete \`\`\`$2 block" >&2; exit 1; }
