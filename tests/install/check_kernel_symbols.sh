#!/usr/bin/env bash
# Objects compiled for an instruction set hold no symbol that the linker could use for another object: an inline function
# that leaks from one would put, say, AVX-512 instructions into code that every processor runs.
# usage: check_kernel_symbols.sh OBJECT...     (other objects are passed over)
set -euo pipefail

checked=0
for object; do
  [[ $object =~ _(aesni|vaes256|vaes512)\.cpp\.o$ ]] || continue
  checked=$((checked + 1))
  symbols=$(nm -C "$object")
  if leaked=$(grep -E '^[0-9a-f]+ [WVu] ' <<<"$symbols"); then
    printf '%s defines symbols that are shared with other objects:\n%s\n' "$object" "$leaked" >&2
    exit 1
  fi
done
# Two primitives in three rows, or none where this processor family has no such rows.
[[ $checked == 6 || ($checked == 0 && $(uname -m) != x86_64) ]] || { echo "found $checked kernel objects" >&2; exit 1; }
echo "$checked kernel objects share no symbol"
