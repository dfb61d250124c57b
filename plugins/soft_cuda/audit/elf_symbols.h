// The functions that an ELF file names in its symbol table, and the versions that it defines. Used
// inside a program that is being loaded: no exception, no C++ library, and nothing allocated but
// what is mapped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/elf/elf_file.h"

namespace graphkit {

class MappedElf {
 public:
  // Empty for a file that can't be read.
  explicit MappedElf(const char* path) : file_(path), elf_(file_.bytes()) {}

  // Calls `found(name, value, size)` for each function that is defined in the table of this kind
  // (SHT_SYMTAB or SHT_DYNSYM). Names live as long as the file is mapped.
  template <typename Found>
  void ForEachFunction(uint32_t table, Found found) const {
    const Table symbols = Find(table);
    for (size_t i = 0; i < symbols.count; ++i) {
      const Function function = At(symbols, i);
      if (function.name != nullptr) found(function.name, function.value, function.size);
    }
  }

  // Calls `found(name)` for each symbol version that the file defines. A library keeps them under
  // any name of its file: NVIDIA's libcudart.so.13 has "libcudart.so.13".
  template <typename Found>
  void ForEachVersion(Found found) const {
    const Table versions = Find(kVersionTable);
    size_t at = 0;
    for (const char* name; (name = NextVersion(versions, at)) != nullptr;) found(name);
  }

  // True if the table's names hold this one, or one that ends with it.
  bool Mentions(uint32_t table, const char* name) const;

 private:
  static constexpr uint32_t kVersionTable = 0x6ffffffd;  // SHT_GNU_verdef
  struct Table {
    const char* symbols = nullptr;
    size_t bytes = 0;
    size_t count = 0;
    const char* names = nullptr;  // ends with a zero byte
    size_t name_bytes = 0;
  };
  struct Function {
    const char* name = nullptr;  // null: no function that is defined here
    uint64_t value = 0;
    uint64_t size = 0;
  };
  Table Find(uint32_t kind) const;
  // The name of the version at this byte, which moves to the next; null where there is none.
  static const char* NextVersion(const Table& table, size_t& at);
  static Function At(const Table& table, size_t i);

  MappedFile file_;
  ElfFile elf_;
};

}  // namespace graphkit
