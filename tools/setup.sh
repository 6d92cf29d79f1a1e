#!/bin/sh
# Sees to it that everything needed to build is there: installs missing Debian or Ubuntu packages as root or with
# passwordless sudo, otherwise prints the line to run and fails. Silent and quick when nothing is missing.
#
# usage: tools/setup.sh [--check] [build] [clang] [python] [peers] [mpi]
#   build    what `make` needs (the default)    clang    Clang, for the presets clang, tsan and asan
#   python   the folder build/venv with packages from PyPI: pyca/cryptography, the peer of the tests in tests/interop/, and
#            matplotlib and pytest for report/
#   peers    programs that tests use where they are there: valgrind, for tests/ct/, and shells for the completions
#   mpi      Open MPI and MPICH, for stockade-mpi and the library stockade_mpi: either is enough, both are tested
#   --check  never install
set -eu

install=yes
groups=
for argument; do
  case $argument in
    --check) install=no ;;
    build | clang | python | peers | mpi) groups="$groups $argument" ;;
    *) sed -n 's/^# \{0,1\}//; 2,11p' "$0" >&2; exit 2 ;;
  esac
done

has_command() { command -v "$1" >/dev/null 2>&1; }
# Release 50 is the first with cryptography.cobblestone.
venv=$(dirname "$0")/../build/venv
has_python() { "$venv/bin/python3" -c 'import cryptography.cobblestone, matplotlib, pytest' 2>/dev/null; }
has_header() { has_command c++ && echo "#include <$1>" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1; }

has_mpi() { has_command "mpirun.$1" && echo '#include <mpi.h>' | "mpicc.$1" -E -x c - >/dev/null 2>&1; }

# One line for each thing needed: the Debian package and the question whether it is there already, however it came.
missing_packages() {
  for group in ${groups:-build}; do
    if [ "$group" = build ]; then
      has_command c++ || echo g++
      has_command cmake || echo cmake
      has_command ninja || echo ninja-build
      has_command pkg-config || echo pkg-config
      has_command python3 || echo python3
      has_command openssl || echo openssl
      has_header openssl/evp.h || echo libssl-dev
      has_header CLI/CLI.hpp || echo libcli11-dev
      has_header fmt/format.h || echo libfmt-dev
      has_header nlohmann/json.hpp || echo nlohmann-json3-dev
      has_header gtest/gtest.h || echo libgtest-dev
      has_header zlib.h || echo zlib1g-dev
    elif [ "$group" = python ]; then
      has_python || python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    elif [ "$group" = peers ]; then
      { has_command valgrind && has_header valgrind/memcheck.h; } || echo valgrind
      has_command fish || echo fish
      has_command zsh || echo zsh
    elif [ "$group" = mpi ]; then
      has_mpi openmpi || echo libopenmpi-dev openmpi-bin
      has_mpi mpich || echo libmpich-dev mpich
    else
      has_command clang++ || echo clang
    fi
  done
}

fail() {
  echo "setup: error: $*" >&2
  exit 1
}

packages=$(missing_packages | tr '\n' ' ')
packages=${packages% }
if [ -n "$packages" ]; then
  if ! has_command apt-get; then
    fail "missing (Debian's names for them): $packages"
  fi
  as_root=
  [ "$(id -u)" = 0 ] || as_root=sudo
  if [ "$install" = no ] || { [ -n "$as_root" ] && ! sudo -n true 2>/dev/null; }; then
    echo "setup: missing: $packages" >&2
    echo "setup: run this line, then try again:" >&2
    echo "  ${as_root:+sudo }apt-get update && ${as_root:+sudo }apt-get install -y --no-install-recommends $packages" >&2
    exit 1
  fi
  echo "setup: installing (a minute or so): $packages"
  log=$(mktemp)
  # shellcheck disable=SC2086 # $packages is a list of words
  if ! { $as_root apt-get update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; } \
    >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    fail "the packages could not be installed"
  fi
  rm -f "$log"
  left=$(missing_packages | tr '\n' ' ')
  [ -z "$left" ] || fail "still missing after installation: $left"
fi

wants() {
  case " ${groups:-build} " in
    *" $1 "*) true ;;
    *) false ;;
  esac
}

if wants build; then
  cmake_version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  oldest=$(printf '%s\n' 3.25 "$cmake_version" | sort -V | head -n 1)
  [ "$oldest" = 3.25 ] || fail "CMake $cmake_version is too old: 3.25 or newer is needed (Debian 12, Ubuntu 23.04)"
fi

# Everything stays in build/venv: no cache, and nothing for the user's or the system's Python.
make_venv() {
  python3 -m venv --clear "$venv" &&
    "$venv/bin/python3" -m pip install --quiet --no-cache-dir --disable-pip-version-check --only-binary :all: \
      'cryptography>=50' 'matplotlib>=3.6' 'pytest>=7' && has_python
}

if wants python && ! has_python; then
  [ "$install" = yes ] || fail "build/venv lacks cryptography, matplotlib or pytest: run 'tools/setup.sh python'"
  echo "setup: installing cryptography, matplotlib and pytest from PyPI in build/venv"
  make_venv </dev/null || fail "cryptography, matplotlib and pytest could not be installed in build/venv"
fi
