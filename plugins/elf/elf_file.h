// ELF files of 64 bits: the one place that knows how they are laid out, for the tracer (functions,
// machine code), the software device (device code, static runtimes) and the command (programs).
// What lies beyond a file's end reads as zeros and nothing. A header alone, which allocates and
// throws nothing and needs no C++ library when it runs: the software device uses it inside programs
// that are being loaded.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graphkit {

// A file, mapped to be read. Empty where it can't be.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (mapped != MAP_FAILED) bytes_ = {static_cast<const char*>(mapped), size};
    }
    close(fd);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

class ElfFile {
 public:
  explicit ElfFile(std::string_view bytes) : bytes_(bytes), header_(At<Elf64_Ehdr>(bytes, 0)) {
    if (memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64) {
      header_ = {};
    }
    const uint64_t table = uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr);
    if (header_.e_shentsize == sizeof(Elf64_Shdr) && Holds(header_.e_shoff, table))
      count_ = header_.e_shnum;
    names_ = BytesOf(Section(header_.e_shstrndx));
  }

  bool is_elf() const { return header_.e_ident[0] != 0; }
  const Elf64_Ehdr& header() const { return header_; }  // of another file: zeros
  size_t count() const { return count_; }  // of sections; 0: their table isn't in the file
  Elf64_Shdr Section(size_t index) const {
    if (index >= count_) return {};
    return At<Elf64_Shdr>(bytes_, header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  // What the loader maps, and where it finds itself; counted by header().e_phnum.
  Elf64_Phdr Segment(size_t index) const {
    return At<Elf64_Phdr>(bytes_, header_.e_phoff + index * sizeof(Elf64_Phdr));
  }
  // As far as they are in the file.
  std::string_view BytesOf(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    return From(bytes_, section.sh_offset, section.sh_size);
  }
  std::string_view NameOf(const Elf64_Shdr& section) const { return Text(names_, section.sh_name); }
  bool Holds(uint64_t offset, uint64_t bytes) const {
    return offset <= bytes_.size() && bytes <= bytes_.size() - offset;
  }
  std::string_view bytes() const { return bytes_; }

  template <typename T>
  static T At(std::string_view bytes, uint64_t offset) {
    T value{};
    const std::string_view there = From(bytes, offset, sizeof value);
    if (there.size() == sizeof value) memcpy(&value, there.data(), sizeof value);
    return value;
  }
  // A null-terminated text among others.
  static std::string_view Text(std::string_view texts, uint64_t offset) {
    const std::string_view text = From(texts, offset, texts.size());
    return {text.data(), text.find('\0') < text.size() ? text.find('\0') : text.size()};
  }

 private:
  static std::string_view From(std::string_view bytes, uint64_t offset, uint64_t size) {
    if (offset > bytes.size()) return {};
    const uint64_t left = bytes.size() - offset;
    return {bytes.data() + offset, size < left ? size : left};
  }

  std::string_view bytes_;
  Elf64_Ehdr header_;
  size_t count_ = 0;
  std::string_view names_;
};

}  // namespace graphkit
