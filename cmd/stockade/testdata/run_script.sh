#!/usr/bin/env bash
# Runs one script of this folder in an empty scratch folder and compares what its commands print with what it says.
#
# usage: run_script.sh STOCKADE SCRIPT       exit status 0 passed, 1 failed, 77 skipped
#
# A script reads like a terminal session:
#   # text               a remark
#   $ command            is run by bash; one shell for the whole script, so variables and functions stay
#   > more               the next line of the same command
#   text                 what it must print, standard output and standard error together
#   ~ regular expression what one line that differs from run to run must match as a whole
#   ? 3                  its exit status, where that is not 0
#   ! command            must succeed, else the whole script is skipped, and the skip is reported with this line
# `stockade` is the program under test. `as_user command` runs without the power of root to ignore permissions.
set -u

program=$(realpath "$1")
script=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/stockade-cli.XXXXXX")
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/work" "$scratch/tmp"
ln -s "$program" "$scratch/bin/stockade"
cd "$scratch/work" || exit 1
# Keys that others may read are warned of.
umask 077
PATH=$scratch/bin:$PATH
export PATH TMPDIR=$scratch/tmp LC_ALL=C HOME=$scratch/home
unset STOCKADE_FORCE STOCKADE_MASK STOCKADE_THREADS STOCKADE_DEVICES OMP_NUM_THREADS NO_COLOR
unset STOCKADE_PROFILE XDG_CONFIG_HOME
unset STOCKADE_PASSPHRASE STOCKADE_PASSPHRASE_FD

# Not exported functions: everything runs in this shell.
as_user() {
  if [[ $(id -u) == 0 ]]; then
    setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search "$@"
  else
    "$@"
  fi
}

failures=0
checks=0

# Whether the lines of file $1 are those that the array `expected` describes.
output_matches() {
  local -a lines=()
  mapfile -t lines <"$1"
  [[ ${#lines[@]} == "${#expected[@]}" ]] || return 1
  local i
  for i in "${!lines[@]}"; do
    if [[ ${expected[i]} == "~ "* ]]; then
      [[ ${lines[i]} =~ ^${expected[i]#"~ "}$ ]] || return 1
    else
      [[ ${lines[i]} == "${expected[i]}" ]] || return 1
    fi
  done
}

# Runs the command that has been gathered, if any, and compares.
finish_command() {
  [[ -n $command ]] || return 0
  local status
  eval "$command" >"$scratch/printed" 2>&1 </dev/null
  status=$?
  checks=$((checks + 1))
  if [[ $status != "$expected_status" ]] || ! output_matches "$scratch/printed"; then
    failures=$((failures + 1))
    printf '%s:%d: $ %s\n--- expected, exit status %s\n' "$script" "$command_line" "$command" "$expected_status"
    ((${#expected[@]} == 0)) || printf '%s\n' "${expected[@]}"
    printf -- '--- printed, exit status %s\n' "$status"
    cat "$scratch/printed"
    printf -- '---\n'
  fi
  command=
}

command= command_line=0 line_number=0 expected_status=0
expected=()
while IFS= read -r line <&9 || [[ -n $line ]]; do
  line_number=$((line_number + 1))
  case $line in
    "$ "*)
      finish_command
      command=${line#"$ "} command_line=$line_number expected_status=0
      expected=()
      ;;
    "> "*) command+=$'\n'${line#"> "} ;;
    "? "*) expected_status=${line#"? "} ;;
    "! "*)
      finish_command
      if ! (eval "${line#"! "}") >/dev/null 2>&1 </dev/null; then
        echo "skipped: this machine does not allow: ${line#"! "}"
        exit $((failures > 0 ? 1 : 77))
      fi
      ;;
    "#"* | "") finish_command ;;
    *) expected+=("$line") ;;
  esac
done 9<"$script"
finish_command

if ((checks == 0)); then
  echo "$script: no command found"
  exit 1
fi
echo "$checks commands, $failures failed"
((failures == 0))
