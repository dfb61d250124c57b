#include "tools/graphkit/trace/program.h"

#include <elf.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "tools/graphkit/child.h"

namespace graphkit {

namespace {

// Reads pieces of a file; anything outside of it is nothing.
class Pieces {
 public:
  explicit Pieces(const std::string& path) : in_(path, std::ios::binary) {}

  template <typename T>
  std::optional<T> At(uint64_t offset) {
    T value;
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    if (!in_.read(reinterpret_cast<char*>(&value), sizeof value)) return std::nullopt;
    return value;
  }
  std::string Text(uint64_t offset) {
    std::string text;
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    std::getline(in_, text, '\0');
    return text;
  }

 private:
  std::ifstream in_;
};

constexpr int kMostEntries = 65536;  // of a table, in a file that may be damaged

std::vector<Elf64_Shdr> Sections(Pieces& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  for (int i = 0; i < header.e_shnum; ++i) {
    const auto section = file.At<Elf64_Shdr>(header.e_shoff + uint64_t(i) * sizeof(Elf64_Shdr));
    if (section) sections.push_back(*section);
  }
  return sections;
}

void ReadSegments(Pieces& file, const Elf64_Ehdr& header, ElfFacts& facts) {
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto segment = file.At<Elf64_Phdr>(header.e_phoff + uint64_t(i) * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_INTERP) facts.loader = file.Text(segment->p_offset);
    if (segment && segment->p_type == PT_TLS) {
      facts.tls_bytes = segment->p_memsz + segment->p_align;
    }
  }
}

void ReadDynamic(Pieces& file, const Elf64_Shdr& dynamic, uint64_t strings, ElfFacts& facts) {
  for (int i = 0; i < kMostEntries; ++i) {
    const auto entry = file.At<Elf64_Dyn>(dynamic.sh_offset + uint64_t(i) * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) return;
    if (entry->d_tag == DT_NEEDED) {
      facts.needed.push_back(file.Text(strings + entry->d_un.d_val));
    }
  }
}

}  // namespace

bool ElfFacts::Needs(const std::string& prefix) const {
  return std::ranges::any_of(
      needed, [&prefix](const std::string& soname) { return soname.starts_with(prefix); });
}

ElfFacts ReadElf(const std::string& path) {
  ElfFacts facts;
  Pieces file(path);
  const auto header = file.At<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return facts;
  }
  facts.is_elf = true;
  ReadSegments(file, *header, facts);
  const std::vector<Elf64_Shdr> sections = Sections(file, *header);
  if (header->e_shstrndx >= sections.size()) return facts;
  facts.is_static = true;
  const uint64_t names = sections[header->e_shstrndx].sh_offset;
  for (const Elf64_Shdr& section : sections) {
    const std::string name = file.Text(names + section.sh_name);
    if (name == ".nv_fatbin") facts.has_device_code = true;
    if (section.sh_type == SHT_SYMTAB) facts.has_symbols = true;
    if (section.sh_type == SHT_DYNAMIC) facts.is_static = false;
    if (section.sh_type == SHT_DYNAMIC && section.sh_link < sections.size()) {
      ReadDynamic(file, section, sections[section.sh_link].sh_offset, facts);
    }
  }
  return facts;
}

// Asks the loader, which doesn't run the program for that. Of a script it is asked for a program
// that is there for sure, ours: what is preloaded is the same.
uint64_t StartupTls(const std::string& program, const std::string& library_path) {
  std::string listed = program, loader = ReadElf(program).loader;
  if (loader.empty()) {
    std::error_code error;
    listed = std::filesystem::read_symlink("/proc/self/exe", error).string();
    loader = ReadElf(listed).loader;
  }
  if (loader.empty()) return 0;
  const ChildAnswer answer = OutputOf({loader, "--library-path", library_path, "--list", listed},
                                      {.limit = std::chrono::seconds(10)});
  uint64_t bytes = 0;
  std::istringstream lines(answer.text);
  for (std::string line; std::getline(lines, line);) {  // "libm.so.6 => /lib/libm.so.6 (0x7f…)"
    const size_t begin = line.find('/'), end = line.rfind(" (");
    if (begin < end && end != line.npos)
      bytes += ReadElf(line.substr(begin, end - begin)).tls_bytes;
  }
  return bytes;
}

std::string TunablesWithTls(const std::string& tunables, uint64_t bytes) {
  constexpr std::string_view kName = "glibc.rtld.optional_static_tls=";
  std::string others;
  uint64_t before = 512;  // glibc's own
  std::istringstream parts(tunables);
  for (std::string part; std::getline(parts, part, ':');) {
    if (part.starts_with(kName)) {
      before = std::strtoull(part.c_str() + kName.size(), nullptr, 0);
    } else if (!part.empty()) {
      others += part + ":";
    }
  }
  return others + std::string(kName) + std::to_string(before + bytes);
}

}  // namespace graphkit
