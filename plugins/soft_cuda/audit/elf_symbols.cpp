#include "plugins/soft_cuda/audit/elf_symbols.h"

namespace graphkit {

MappedElf::Table MappedElf::Find(uint32_t kind) const {
  for (size_t i = 0; i < elf_.count(); ++i) {
    const Elf64_Shdr section = elf_.Section(i);
    if (section.sh_type != kind || section.sh_link >= elf_.count()) continue;
    const Elf64_Shdr names = elf_.Section(section.sh_link);
    if (!elf_.Holds(section.sh_offset, section.sh_size)) return {};
    if (!elf_.Holds(names.sh_offset, names.sh_size)) return {};
    const char* file = elf_.bytes().data();
    if (names.sh_size == 0 || file[names.sh_offset + names.sh_size - 1] != '\0') return {};
    return {file + section.sh_offset, section.sh_size, section.sh_size / sizeof(Elf64_Sym),
            file + names.sh_offset, names.sh_size};
  }
  return {};
}

MappedElf::Function MappedElf::At(const Table& table, size_t i) {
  const auto symbol = ElfFile::At<Elf64_Sym>({table.symbols, table.bytes}, i * sizeof(Elf64_Sym));
  if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return {};
  if (symbol.st_name >= table.name_bytes) return {};
  return {table.names + symbol.st_name, symbol.st_value, symbol.st_size};
}

const char* MappedElf::NextVersion(const Table& table, size_t& at) {
  const auto inside = [&table](size_t offset, size_t bytes) {
    return offset + bytes <= table.bytes;
  };
  if (!inside(at, sizeof(Elf64_Verdef))) return nullptr;
  const std::string_view versions(table.symbols, table.bytes);
  const auto version = ElfFile::At<Elf64_Verdef>(versions, at);
  const size_t name = at + version.vd_aux;
  at = version.vd_next != 0 ? at + version.vd_next : table.bytes;
  if (!inside(name, sizeof(Elf64_Verdaux))) return nullptr;
  const auto aux = ElfFile::At<Elf64_Verdaux>(versions, name);
  return aux.vda_name < table.name_bytes ? table.names + aux.vda_name : nullptr;
}

bool MappedElf::Mentions(uint32_t kind, const char* name) const {
  const Table table = Find(kind);
  return table.names != nullptr &&
         memmem(table.names, table.name_bytes, name, strlen(name) + 1) != nullptr;
}

}  // namespace graphkit
