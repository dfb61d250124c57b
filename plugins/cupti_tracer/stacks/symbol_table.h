// The functions of an ELF file: its .symtab, or its .dynsym where that was stripped away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/elf/elf_file.h"

namespace graphkit {

class SymbolTable {
 public:
  // An empty table for a file that can't be read, or isn't an ELF file of this machine's kind.
  explicit SymbolTable(const std::string& file);

  // The function that holds an address of the file; empty: none is known. Lives as long as the
  // table.
  std::string_view At(uint64_t address) const;

  size_t size() const { return functions_.size(); }
  // The file says which source lines its code comes from (DWARF, as compilers write with -g).
  bool has_lines() const { return has_lines_; }

 private:
  struct Function {
    uint64_t begin = 0;
    uint64_t end = 0;  // equal to begin where the file doesn't say
    std::string_view name;
  };
  void ReadSymbols(std::string_view symbols, std::string_view names);

  MappedFile file_;
  bool has_lines_ = false;
  std::vector<Function> functions_;  // by begin
};

}  // namespace graphkit
