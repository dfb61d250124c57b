// A file mapped for reading, or read into memory where it can't be mapped (a pipe).
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

class MappedFile {
 public:
  // "-" is the standard input.
  static Result<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return map_ ? std::string_view{map_, size_} : copy_; }

 private:
  MappedFile() = default;
  static Result<MappedFile> From(int fd, const std::string& path);

  const char* map_ = nullptr;
  size_t size_ = 0;
  std::string copy_;
};

}  // namespace graphkit
