// Where the bytes of a file come from: memory, a file, stdin, any of them compressed with zstd.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `buffer` as far as there are bytes; fewer than it holds: that was the end.
  virtual Result<size_t> Read(std::span<char> buffer) = 0;
};

// The text must outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string_view text);

// "-" is stdin. What begins like a zstd file is decompressed, whatever its name; a compressed file
// that is cut off gives what could be decompressed.
Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

// Decompresses `source` if its bytes begin like a zstd file.
Result<std::unique_ptr<ByteSource>> Decompressed(std::unique_ptr<ByteSource> source);

}  // namespace graphkit
