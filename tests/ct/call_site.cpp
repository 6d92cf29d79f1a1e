#include "ct/call_site.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "ct/secrets.h"

namespace stockade::ct {
namespace {

// The program's own file, for the table that `dladdr` reads has no functions that are not exported.
struct Symbols {
  std::vector<char> file;
  const Elf64_Sym* first = nullptr;
  size_t count = 0;
  const char* names = nullptr;
  uintptr_t base = 0;
};

Symbols read_symbols() {
  Symbols symbols;
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  symbols.file.assign(std::istreambuf_iterator<char>(stream), {});
  demand(symbols.file.size() > sizeof(Elf64_Ehdr), "file of this program");
  const char* const file = symbols.file.data();
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file + header->e_shoff);
  for (size_t i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    symbols.first = reinterpret_cast<const Elf64_Sym*>(file + sections[i].sh_offset);
    symbols.count = sections[i].sh_size / sizeof(Elf64_Sym);
    symbols.names = file + sections[sections[i].sh_link].sh_offset;
  }
  demand(symbols.count != 0, "table of symbols: the program was stripped");
  // The first object is the program.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* base) {
        *static_cast<uintptr_t*>(base) = info->dlpi_addr;
        return 1;
      },
      &symbols.base);
  return symbols;
}

}  // namespace

std::string_view function_at(const void* address) {
  static const Symbols symbols = read_symbols();
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - symbols.base;
  for (size_t i = 0; i < symbols.count; ++i) {
    const Elf64_Sym& symbol = symbols.first[i];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    if (offset - symbol.st_value < symbol.st_size) return symbols.names + symbol.st_name;
  }
  return {};
}

}  // namespace stockade::ct
