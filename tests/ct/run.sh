#!/usr/bin/env bash
# Runs a program of this folder under valgrind's memcheck.
#
# usage: run.sh PROGRAM [ARGUMENT ...]
# Exit status 77, skipped, where there is no valgrind; with STOCKADE_REQUIRE_PEERS=1 in the environment that is a failure.
set -euo pipefail

if ! command -v valgrind >/dev/null; then
  echo "there is no valgrind here: 'tools/setup.sh peers' installs it" >&2
  if [[ ${STOCKADE_REQUIRE_PEERS:-} == 1 ]]; then
    echo "STOCKADE_REQUIRE_PEERS=1: a missing peer is a failure" >&2
    exit 1
  fi
  echo "skipped"
  exit 77
fi
# The program itself counts the complaints. Without the costly checks memcheck takes some comparisons of words that are
# known in part for unknown.
exec valgrind --tool=memcheck --quiet --expensive-definedness-checks=yes --error-limit=no --num-callers=20 "$@"
