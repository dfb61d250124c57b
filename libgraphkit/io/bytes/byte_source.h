// Where the bytes of files come from.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "libgraphkit/result.h"

namespace graphkit {

// Memory, a file or stdin, any of them compressed with zstd or gzip.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `buffer` as far as there are bytes; fewer than it holds: that was the end.
  virtual Result<size_t> Read(std::span<char> buffer) = 0;

  // How many bytes are left; 0: unknown. Good for guesses only.
  virtual size_t BytesLeft() const { return 0; }

  // The descriptor of the file that gives the bytes as they are; -1: there is none.
  virtual int PlainFile() const { return -1; }
};

// The text must outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string_view text);

// "-" is stdin. What begins like a zstd or gzip file is decompressed, whatever its name; a
// compressed file that is cut off gives what could be decompressed.
// `read` counts up the bytes that were read of the file, for those who wait; may be null.
Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path,
                                             std::atomic<size_t>* read = nullptr);

// Decompresses `source` if its bytes begin like a compressed file.
Result<std::unique_ptr<ByteSource>> Decompressed(std::unique_ptr<ByteSource> source);

// The first bytes of `source`, which still gives them afterwards.
Result<std::string> Peek(std::unique_ptr<ByteSource>& source, size_t count);

// All that is left; `padding` bytes behind the end may be read.
Result<std::string> ReadAll(ByteSource& source, size_t padding = 0);

// Behind a text that a reader of JSON takes.
inline constexpr size_t kReadPadding = 64;

// All bytes of a file: mapped, or a copy.
struct FileBytes {
  std::string_view text;
  std::shared_ptr<const void> kept;
};
// All that is left. A plain file that wasn't read yet is mapped where no padding is needed.
Result<FileBytes> ReadBytes(ByteSource& source, size_t padding = 0);
// Opens the file ("-": stdin; compressed or not) and reads it. Errors name it.
Result<FileBytes> ReadFile(const std::string& path);

}  // namespace graphkit
