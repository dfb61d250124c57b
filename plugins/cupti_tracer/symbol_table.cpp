#include "plugins/cupti_tracer/symbol_table.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace graphkit {
namespace {

template <typename T>
T ReadAt(const char* data, uint64_t offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof value);
  return value;
}

}  // namespace

SymbolTable::SymbolTable(const std::string& file) {
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    auto bytes = static_cast<size_t>(status.st_size);
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped != MAP_FAILED) {
      data_ = static_cast<const char*>(mapped);
      size_ = bytes;
    }
  }
  close(fd);
  if (data_ != nullptr) Read();
}

SymbolTable::~SymbolTable() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void SymbolTable::Read() {
  if (!Holds(0, sizeof(Elf64_Ehdr))) return;
  auto header = ReadAt<Elf64_Ehdr>(data_, 0);
  bool elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
             header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shentsize == sizeof(Elf64_Shdr);
  if (!elf || !Holds(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return;
  for (uint32_t wanted : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    for (size_t i = 0; i < header.e_shnum && functions_.empty(); ++i) {
      auto section = ReadAt<Elf64_Shdr>(data_, header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type != wanted || section.sh_link >= header.e_shnum) continue;
      auto names = ReadAt<Elf64_Shdr>(data_, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
      ReadSection(section.sh_offset, section.sh_size, names.sh_offset, names.sh_size);
    }
  }
  std::stable_sort(functions_.begin(), functions_.end(),
                   [](const Function& a, const Function& b) { return a.begin < b.begin; });
}

void SymbolTable::ReadSection(size_t offset, size_t bytes, size_t names, size_t name_bytes) {
  if (!Holds(offset, bytes) || !Holds(names, name_bytes) || name_bytes == 0) return;
  if (data_[names + name_bytes - 1] != '\0') return;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= bytes; at += sizeof(Elf64_Sym)) {
    auto symbol = ReadAt<Elf64_Sym>(data_, offset + at);
    bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!function || symbol.st_name >= name_bytes) continue;
    functions_.push_back(
        {symbol.st_value, symbol.st_value + symbol.st_size, data_ + names + symbol.st_name});
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
