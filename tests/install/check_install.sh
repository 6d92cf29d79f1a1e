#!/usr/bin/env bash
# Installs to a temporary prefix, moves the tree elsewhere, and builds and runs the README's C and C++ code against it as a
# stranger would: by find_package and by pkg-config, shared and static, and from a project that has only C. What docs/gpu.md
# shows is compiled.
# usage: check_install.sh SOURCE BUILD VERSION     environment: CXX, CMAKE_COMMAND, CMAKE_GENERATOR
set -euo pipefail

here=$(dirname "$(realpath "$0")")
source=$1 build=$2 version=$3
cmake=${CMAKE_COMMAND:-cmake}
cxx=${CXX:-c++}
# The C compiler that belongs to the C++ compiler.
cc=$(sed -E 's/clang\+\+/clang/; s/(^|[/-])g\+\+/\1gcc/; s/(^|\/)c\+\+/\1cc/' <<<"$cxx")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

step() { echo "-- $*"; }

step "install, then move the whole tree"
"$cmake" --install "$build" --prefix "$folder/first" >"$folder/log" || { cat "$folder/log"; exit 1; }
mv "$folder/first" "$folder/prefix"
prefix=$folder/prefix
find_one() { find "$prefix" -name "$1" | grep . || { echo "$1 was not installed" >&2; exit 1; }; }
libdir=$(dirname "$(find_one libstockade.so)")
for file in stockade stockade.h stockade.hpp libstockade.a "libstockade.so.$version" stockadeConfig.cmake stockade.pc \
  LICENSE README.md stockade.1 _stockade stockade.fish; do
  find_one "$file" >/dev/null
done
if grep -rlF -e "$folder/first" -e "$source" -e "$build" "$libdir/cmake" "$libdir/pkgconfig" "$prefix/include"; then
  echo "these files name the folder they were built or first installed in" >&2
  exit 1
fi
[[ $("$prefix/bin/stockade" --version) == *"$version"* ]]

step "the code of the README and of docs/gpu.md"
"$here/readme_code.sh" "$source/README.md" c >"$folder/example.c"
"$here/readme_code.sh" "$source/README.md" cpp >"$folder/example.cpp"
"$here/readme_code.sh" "$source/docs/gpu.md" c >"$folder/gpu.c"
"$here/readme_code.sh" "$source/docs/gpu.md" cpp >"$folder/gpu.cpp"
cp -r "$here/consumer" "$here/consumer_c" "$folder/"

step "find_package from a C and C++ project"
CC=$cc CXX=$cxx "$cmake" -S "$folder/consumer" -B "$folder/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DEXAMPLES="$folder" -DVERSION="$version" >"$folder/log" || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/consumer/build" >"$folder/log" || { cat "$folder/log"; exit 1; }
for program in c_shared c_static cpp_shared cpp_static; do
  "$folder/consumer/build/$program"
done

step "find_package from a project without C++"
CC=$cc "$cmake" -S "$folder/consumer_c" -B "$folder/consumer_c/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DEXAMPLES="$folder" >"$folder/log" || { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder/consumer_c/build" >"$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/consumer_c/build/c_shared"

step "pkg-config, shared"
export PKG_CONFIG_PATH=$libdir/pkgconfig
pkg-config --exact-version="$version" stockade
read -ra flags <<<"$(pkg-config --cflags --libs stockade)"
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror "$folder/example.c" "${flags[@]}" -o "$folder/c_shared"
"$cxx" -std=c++20 -Wall -Wextra -Werror "$folder/example.cpp" "${flags[@]}" -o "$folder/cpp_shared"
# Functions, not programs.
read -ra flags <<<"$(pkg-config --cflags stockade)"
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror -c "$folder/gpu.c" "${flags[@]}" -o "$folder/gpu_c.o"
"$cxx" -std=c++20 -Wall -Wextra -Werror -c "$folder/gpu.cpp" "${flags[@]}" -o "$folder/gpu_cpp.o"
for program in c_shared cpp_shared; do
  LD_LIBRARY_PATH=$libdir "$folder/$program"
  if "$folder/$program" 2>/dev/null; then
    echo "$program runs without the shared library" >&2
    exit 1
  fi
done

step "pkg-config, static"
read -ra flags <<<"$(pkg-config --cflags --libs --static stockade | sed 's/-lstockade/-l:libstockade.a/')"
"$cc" -std=c99 "$folder/example.c" "${flags[@]}" -o "$folder/c_static"
"$cxx" -std=c++20 "$folder/example.cpp" "${flags[@]}" -o "$folder/cpp_static"
for program in c_static cpp_static; do
  "$folder/$program"
done

for pc in "$libdir"/pkgconfig/stockade_mpi_*.pc; do
  [[ -e $pc ]] || continue
  implementation=$(basename "$pc" .pc)
  implementation=${implementation#stockade_mpi_}
  step "the library for $implementation, and the code of docs/mpi.md"
  read -ra flags <<<"$(pkg-config --cflags --libs "stockade_mpi_$implementation")"
  read -ra compile <<<"$(command -v "mpicc.$implementation" || echo mpicc)"
  "${compile[@]}" -std=c99 -Wall -Wextra -Wno-missing-field-initializers -Werror "$here/consumer_mpi/team.c" "${flags[@]}" \
    -o "$folder/team"
  "$folder/team" "$folder/team.sto"
  "$here/readme_code.sh" "$source/docs/mpi.md" c >"$folder/mpi.c"
  "${compile[@]}" -std=c99 -Wall -Wextra -Wno-missing-field-initializers -Werror -c "$folder/mpi.c" "${flags[@]}" \
    -o "$folder/mpi.o"
  cp -r "$here/consumer_mpi" "$folder/$implementation"
  CC=$cc CXX=$cxx "$cmake" -S "$folder/$implementation" -B "$folder/$implementation/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DIMPLEMENTATION="$implementation" -DVERSION="$version" >"$folder/log" || { cat "$folder/log"; exit 1; }
  "$cmake" --build "$folder/$implementation/build" >"$folder/log" || { cat "$folder/log"; exit 1; }
  "$folder/$implementation/build/team" "$folder/team.sto"
done
