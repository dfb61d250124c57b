// The sections of an ELF file in memory. What lies beyond its end reads as zeros and nothing.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace graphkit {

class ElfFile {
 public:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes), header_(At<Elf64_Ehdr>(bytes, 0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) header_ = {};
    names_ = BytesOf(Section(header_.e_shstrndx));
  }

  const Elf64_Ehdr& header() const { return header_; }
  size_t count() const { return header_.e_shnum; }  // of sections; 0: it is no ELF file
  Elf64_Shdr Section(size_t index) const {
    return At<Elf64_Shdr>(bytes_, header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string_view BytesOf(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size()) return {};
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  std::string_view NameOf(const Elf64_Shdr& section) const { return Text(names_, section.sh_name); }

  template <typename T>
  static T At(std::string_view bytes, uint64_t offset) {
    T value{};
    if (offset <= bytes.size() && bytes.size() - offset >= sizeof value) {
      std::memcpy(&value, bytes.data() + offset, sizeof value);
    }
    return value;
  }
  // A null-terminated text in a section of texts.
  static std::string_view Text(std::string_view texts, uint64_t offset) {
    if (offset >= texts.size()) return {};
    const std::string_view text = texts.substr(offset);
    return text.substr(0, text.find('\0'));
  }

 private:
  std::string_view bytes_;
  Elf64_Ehdr header_;
  std::string_view names_;
};

}  // namespace graphkit
