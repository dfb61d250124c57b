#include "plugins/cupti_tracer/stacks/symbol_table.h"

#include <algorithm>

#include "plugins/cupti_tracer/ground/record_file.h"

namespace graphkit {

SymbolTable::SymbolTable(const std::string& file) : file_(MayUseFiles() ? file.c_str() : "") {
  const ElfFile elf(file_.bytes());
  for (size_t i = 0; i < elf.count() && !has_lines_; ++i) {
    has_lines_ = elf.NameOf(elf.Section(i)) == ".debug_line";
  }
  for (uint32_t wanted : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    for (size_t i = 0; i < elf.count() && functions_.empty(); ++i) {
      const Elf64_Shdr section = elf.Section(i);
      if (section.sh_type != wanted) continue;
      ReadSymbols(elf.BytesOf(section), elf.BytesOf(elf.Section(section.sh_link)));
    }
  }
  std::ranges::stable_sort(functions_, {}, &Function::begin);
}

void SymbolTable::ReadSymbols(std::string_view symbols, std::string_view names) {
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = ElfFile::At<Elf64_Sym>(symbols, at);
    bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!function || symbol.st_name >= names.size()) continue;
    functions_.push_back(
        {symbol.st_value, symbol.st_value + symbol.st_size, ElfFile::Text(names, symbol.st_name)});
  }
}

std::string_view SymbolTable::At(uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t value, const Function& f) { return value < f.begin; });
  while (after != functions_.begin()) {
    const Function& function = *--after;
    if (address < function.end || function.begin == function.end) return function.name;
    if (function.end < address) break;  // between two functions
  }
  return {};
}

}  // namespace graphkit
