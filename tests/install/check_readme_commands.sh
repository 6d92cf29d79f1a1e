#!/usr/bin/env bash
# Runs the README's ```sh blocks as they stand, in an empty folder that holds build/bin/stockade and report.pdf.
# usage: check_readme_commands.sh SOURCE STOCKADE
set -euo pipefail

here=$(dirname "$(realpath "$0")")
source=$1
stockade=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/build/bin"
ln -s "$stockade" "$folder/build/bin/stockade"
head -c 300000 /dev/urandom >"$folder/report.pdf"
"$here/readme_code.sh" "$source/README.md" sh >"$folder/commands.sh"
cd "$folder"
bash -euxo pipefail commands.sh
