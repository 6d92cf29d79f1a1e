#!/usr/bin/env bash
# Runs the tests of the report with an interpreter that has matplotlib and pytest: that of the folder build/venv, which
# `tools/setup.sh python` makes, else the python3 of the PATH.
#
# usage: run_tests.sh [OPTION OF pytest ...]
# Exit status 77, skipped, where neither has them; with STOCKADE_REQUIRE_PEERS=1 in the environment that is a failure.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")"

for python in ../build/venv/bin/python3 python3; do
  if "$python" -c 'import matplotlib, pytest' 2>/dev/null; then
    # matplotlib keeps a list of fonts, which is not to go to anyone's home.
    MPLCONFIGDIR=$(mktemp -d "${TMPDIR:-/tmp}/stockade-report.XXXXXX")
    export MPLCONFIGDIR
    trap 'rm -rf "$MPLCONFIGDIR"' EXIT
    "$python" -B -m pytest "$@"
    exit
  fi
done
echo "no Python here has the packages matplotlib and pytest: 'tools/setup.sh python' installs them in build/venv" >&2
if [[ ${STOCKADE_REQUIRE_PEERS:-} == 1 ]]; then
  echo "STOCKADE_REQUIRE_PEERS=1: a missing package is a failure" >&2
  exit 1
fi
echo "skipped"
exit 77
