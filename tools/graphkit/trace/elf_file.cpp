#include "tools/graphkit/trace/program.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "plugins/elf/elf_file.h"
#include "tools/graphkit/child.h"

namespace graphkit {

namespace {

void ReadSegments(const ElfFile& elf, ElfFacts& facts) {
  for (size_t i = 0; i < elf.header().e_phnum; ++i) {
    const Elf64_Phdr segment = elf.Segment(i);
    if (segment.p_type == PT_INTERP) facts.loader = ElfFile::Text(elf.bytes(), segment.p_offset);
    if (segment.p_type == PT_TLS) facts.tls_bytes = segment.p_memsz + segment.p_align;
  }
}

void ReadDynamic(const ElfFile& elf, const Elf64_Shdr& dynamic, ElfFacts& facts) {
  const std::string_view entries = elf.BytesOf(dynamic);
  const std::string_view strings = elf.BytesOf(elf.Section(dynamic.sh_link));
  for (size_t at = 0; at < entries.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = ElfFile::At<Elf64_Dyn>(entries, at);
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED)
      facts.needed.emplace_back(ElfFile::Text(strings, entry.d_un.d_val));
  }
}

}  // namespace

bool ElfFacts::Needs(const std::string& prefix) const {
  return std::ranges::any_of(
      needed, [&prefix](const std::string& soname) { return soname.starts_with(prefix); });
}

ElfFacts ReadElf(const std::string& path) {
  ElfFacts facts;
  const MappedFile file(path.c_str());
  const ElfFile elf(file.bytes());
  if (!elf.is_elf() || elf.header().e_ident[EI_DATA] != ELFDATA2LSB) return facts;
  facts.is_elf = true;
  ReadSegments(elf, facts);
  if (elf.header().e_shstrndx >= elf.count()) return facts;
  facts.is_static = true;
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    if (elf.NameOf(section) == ".nv_fatbin") facts.has_device_code = true;
    if (section.sh_type == SHT_SYMTAB) facts.has_symbols = true;
    if (section.sh_type != SHT_DYNAMIC) continue;
    facts.is_static = false;
    ReadDynamic(elf, section, facts);
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
