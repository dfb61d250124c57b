// The kernels' properties in a cubin (an ELF): .nv.info.<kernel> holds attribute records
//   u8 format, u8 attribute, u16 size or value, then `size` bytes where the format is 4.
// Names and layouts as seen in nvcc 13's output (EIATTR_KPARAM_INFO and others).
#include <algorithm>
#include <cstring>

#include "plugins/elf/elf_file.h"
#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {
namespace {

constexpr uint8_t kSized = 4;
constexpr uint8_t kMaxThreads = 0x05;
constexpr uint8_t kFrameSize = 0x11;
constexpr uint8_t kParameter = 0x17;
constexpr uint8_t kRegisterCount = 0x2f;
constexpr uint8_t kParameterWide = 0x45;  // the size has a word of its own
constexpr uint8_t kCluster = 0x3d;
constexpr unsigned char kManaged = 4;       // of a symbol: st_other
constexpr unsigned kFirstReserving = 90;    // architecture
constexpr uint32_t kReservedShared = 1024;  // bytes that sections of shared memory begin with

struct Symbol {
  std::string_view name;
  Elf64_Sym entry;
};

std::vector<Symbol> ReadSymbols(const ElfFile& elf) {
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    if (section.sh_type != SHT_SYMTAB) continue;
    const std::string_view names = elf.BytesOf(elf.Section(section.sh_link));
    const std::string_view bytes = elf.BytesOf(section);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto entry = ElfFile::At<Elf64_Sym>(bytes, at);
      symbols.push_back({ElfFile::Text(names, entry.st_name), entry});
    }
  }
  return symbols;
}

uint32_t Word(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  if (at + 4 <= bytes.size()) std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

// Calls visit(attribute, payload) for each record.
template <typename Visit>
void ForEachRecord(std::string_view info, Visit&& visit) {
  for (size_t at = 0; at + 4 <= info.size();) {
    const auto format = static_cast<uint8_t>(info[at]);
    const auto attribute = static_cast<uint8_t>(info[at + 1]);
    const size_t size = format == kSized ? Word(info, at) >> 16 : 0;
    visit(attribute, info.substr(at + 4, size));
    at += 4 + size;
  }
}

void ReadKernelInfo(std::string_view info, KernelInfo& kernel) {
  std::vector<std::pair<uint32_t, Parameter>> found;
  ForEachRecord(info, [&](uint8_t attribute, std::string_view payload) {
    const uint32_t place = Word(payload, 4);  // ordinal, offset
    if (attribute == kParameter)
      found.push_back({place & 0xffff, {place >> 16, Word(payload, 8) >> 18}});
    if (attribute == kParameterWide)
      found.push_back({place & 0xffff, {place >> 16, Word(payload, 8)}});
    if (attribute == kMaxThreads)
      kernel.max_threads = Word(payload, 0) * Word(payload, 4) * Word(payload, 8);
    for (size_t i = 0; attribute == kCluster && i < 3; ++i)
      kernel.cluster[i] = Word(payload, 4 * i);
  });
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [ordinal, parameter] : found) kernel.parameters.push_back(parameter);
}

void ReadModuleInfo(std::string_view info, const std::vector<Symbol>& symbols, ModuleInfo& module) {
  ForEachRecord(info, [&](uint8_t attribute, std::string_view payload) {
    const uint32_t symbol = Word(payload, 0);
    if (symbol >= symbols.size()) return;
    for (KernelInfo& kernel : module.kernels) {
      if (kernel.name != symbols[symbol].name) continue;
      if (attribute == kRegisterCount) kernel.registers = Word(payload, 4);
      if (attribute == kFrameSize) kernel.local_bytes = Word(payload, 4);
    }
  });
}

std::optional<VariableInfo> ReadVariable(const ElfFile& elf, const Symbol& symbol) {
  const Elf64_Sym& entry = symbol.entry;
  if (ELF64_ST_TYPE(entry.st_info) != STT_OBJECT || entry.st_shndx >= elf.count())
    return std::nullopt;
  const Elf64_Shdr section = elf.Section(entry.st_shndx);
  const std::string_view name = elf.NameOf(section);
  const bool constant = name.starts_with(".nv.constant3");
  if (!constant && !name.starts_with(".nv.global")) return std::nullopt;
  const bool managed = (entry.st_other & kManaged) != 0;
  VariableInfo variable{std::string(symbol.name), entry.st_size, constant, managed, {}};
  const std::string_view bytes = elf.BytesOf(section);
  if (entry.st_value < bytes.size()) variable.initial = bytes.substr(entry.st_value, entry.st_size);
  return variable;
}

// The bytes that the code declares; from 9.0 on the section holds the system's, too.
uint32_t DeclaredShared(uint64_t section_bytes, unsigned architecture) {
  const uint32_t reserved = architecture >= kFirstReserving ? kReservedShared : 0;
  const auto bytes = static_cast<uint32_t>(section_bytes);
  return bytes >= reserved ? bytes - reserved : bytes;
}

}  // namespace

unsigned CubinArchitecture(std::string_view bytes) {
  const auto header = ElfFile::At<Elf64_Ehdr>(bytes, 0);
  const bool shifted = header.e_ident[EI_ABIVERSION] >= 8;
  return (shifted ? header.e_flags >> 8 : header.e_flags) & 0xff;
}

std::optional<ModuleInfo> ReadCubin(std::string_view bytes) {
  const ElfFile elf(bytes);
  if (elf.header().e_shstrndx >= elf.count()) return std::nullopt;
  const unsigned architecture = CubinArchitecture(bytes);
  ModuleInfo module;
  const std::vector<Symbol> symbols = ReadSymbols(elf);
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    const std::string_view name = elf.NameOf(section);
    if (!name.starts_with(".text.")) continue;
    module.kernels.push_back({.name = std::string(name.substr(6)), .parameters = {}});
  }
  for (size_t i = 0; i < elf.count(); ++i) {
    const Elf64_Shdr section = elf.Section(i);
    const std::string_view name = elf.NameOf(section);
    for (KernelInfo& kernel : module.kernels) {
      if (name == ".nv.info." + kernel.name) ReadKernelInfo(elf.BytesOf(section), kernel);
      if (name == ".nv.shared." + kernel.name)
        kernel.shared_bytes = DeclaredShared(section.sh_size, architecture);
    }
    if (name == ".nv.info") ReadModuleInfo(elf.BytesOf(section), symbols, module);
  }
  for (const Symbol& symbol : symbols) {
    if (auto variable = ReadVariable(elf, symbol)) module.variables.push_back(std::move(*variable));
  }
  return module;
}

}  // namespace graphkit::soft
