#include "plugins/soft_cuda/audit/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace graphkit {
namespace {

template <typename T>
T Read(const char* from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

MappedElf::MappedElf(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto bytes = static_cast<size_t>(status.st_size);
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped != MAP_FAILED) {
      data_ = static_cast<const char*>(mapped);
      size_ = bytes;
    }
  }
  close(fd);
}

MappedElf::~MappedElf() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

MappedElf::Table MappedElf::Find(uint32_t kind) const {
  if (!Holds(0, sizeof(Elf64_Ehdr)) || memcmp(data_, ELFMAG, SELFMAG) != 0) return {};
  const auto header = Read<Elf64_Ehdr>(data_);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  if (!Holds(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return {};
  const char* sections = data_ + header.e_shoff;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = Read<Elf64_Shdr>(sections + i * sizeof(Elf64_Shdr));
    if (section.sh_type != kind || section.sh_link >= header.e_shnum) continue;
    const auto names = Read<Elf64_Shdr>(sections + section.sh_link * sizeof(Elf64_Shdr));
    if (!Holds(section.sh_offset, section.sh_size) || !Holds(names.sh_offset, names.sh_size))
      return {};
    if (names.sh_size == 0 || data_[names.sh_offset + names.sh_size - 1] != '\0') return {};
    return {data_ + section.sh_offset, section.sh_size, section.sh_size / sizeof(Elf64_Sym),
            data_ + names.sh_offset, names.sh_size};
  }
  return {};
}

MappedElf::Function MappedElf::At(const Table& table, size_t i) {
  const auto symbol = Read<Elf64_Sym>(table.symbols + i * sizeof(Elf64_Sym));
  if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return {};
  if (symbol.st_name >= table.name_bytes) return {};
  return {table.names + symbol.st_name, symbol.st_value, symbol.st_size};
}

const char* MappedElf::NextVersion(const Table& table, const char*& at) {
  const auto inside = [&table](const char* place, size_t bytes) {
    const auto offset = static_cast<size_t>(place - table.symbols);
    return offset <= table.bytes && bytes <= table.bytes - offset;
  };
  if (at == nullptr || !inside(at, sizeof(Elf64_Verdef))) return nullptr;
  const auto version = Read<Elf64_Verdef>(at);
  const char* name = at + version.vd_aux;
  at = version.vd_next != 0 ? at + version.vd_next : nullptr;
  if (!inside(name, sizeof(Elf64_Verdaux))) return nullptr;
  const auto aux = Read<Elf64_Verdaux>(name);
  return aux.vda_name < table.name_bytes ? table.names + aux.vda_name : nullptr;
}

bool MappedElf::Mentions(uint32_t kind, const char* name) const {
  const Table table = Find(kind);
  return table.names != nullptr &&
         memmem(table.names, table.name_bytes, name, strlen(name) + 1) != nullptr;
}

}  // namespace graphkit
