// What an executable says about the CUDA that it uses: read from the file, without running it.
#pragma once

#include <string>
#include <vector>

namespace graphkit {

struct ElfFacts {
  bool is_elf = false;              // a 64-bit ELF file of this byte order
  std::vector<std::string> needed;  // sonames
  bool has_device_code = false;     // a .nv_fatbin section
  bool has_symbols = false;         // a .symtab section: it isn't stripped
  bool is_static = false;           // no dynamic section: no loader looks at it
  bool operator==(const ElfFacts&) const = default;

  bool Needs(const std::string& prefix) const;  // a library whose soname begins so
};

ElfFacts ReadElf(const std::string& path);

}  // namespace graphkit
