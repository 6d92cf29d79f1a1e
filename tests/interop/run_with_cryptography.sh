#!/usr/bin/env bash
# Runs a Python script with an interpreter that has pyca/cryptography with Cobblestone (release 50 or newer): that of the
# folder build/venv, which `tools/setup.sh python` makes, else the python3 of the PATH.
#
# usage: run_with_cryptography.sh SCRIPT [ARGUMENT ...]
# Exit status 77, skipped, where neither has it; with STOCKADE_REQUIRE_PEERS=1 in the environment that is a failure.
set -euo pipefail

venv=$(dirname "$(realpath "$0")")/../../build/venv/bin/python3
for python in "$venv" python3; do
  if "$python" -c 'import cryptography.cobblestone' 2>/dev/null; then
    exec "$python" -B "$@"
  fi
done
echo "no Python here has the package cryptography, release 50 or newer: 'tools/setup.sh python' installs it in build/venv" >&2
if [[ ${STOCKADE_REQUIRE_PEERS:-} == 1 ]]; then
  echo "STOCKADE_REQUIRE_PEERS=1: a missing peer is a failure" >&2
  exit 1
fi
echo "skipped"
exit 77
