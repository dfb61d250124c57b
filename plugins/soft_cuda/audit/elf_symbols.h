// The functions that an ELF file names in its symbol table, and the versions that it defines. Used
// inside a program that is being loaded: no exception, no C++ library, and nothing allocated but
// what is mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace graphkit {

// A file, mapped to be read. Empty where it can't be.
class MappedElf {
 public:
  explicit MappedElf(const char* path);
  ~MappedElf();
  MappedElf(const MappedElf&) = delete;
  MappedElf& operator=(const MappedElf&) = delete;

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
    const char* at = versions.symbols;
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
  // The name of the version at `at`, which moves to the next; null where there is none.
  static const char* NextVersion(const Table& table, const char*& at);
  static Function At(const Table& table, size_t i);
  bool Holds(uint64_t offset, uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }

  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace graphkit
