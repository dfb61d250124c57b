// Cuts a stream of bytes into chunks of whole lines.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "libgraphkit/io/bytes/file_bytes.h"

namespace graphkit {

// Some whole lines, each ending in a line feed, in a buffer that is longer by `padding`.
class LineChunk {
 public:
  std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  friend class LineChunks;
  std::vector<char> buffer_;
  size_t size_ = 0;
};

class LineChunks {
 public:
  LineChunks(ByteSource& source, size_t chunk_size, size_t padding)
      : source_(source), chunk_size_(chunk_size), padding_(padding) {}

  // The next lines; false: there are no more. A NUL byte ends the text: files that are written
  // through a mapping end in NULs when their writer was killed.
  Result<bool> Next(LineChunk& chunk);

  // What followed the last line feed. Complete once Next() returned false.
  bool at_end() const { return at_end_; }
  std::string_view tail() const { return {carry_.data(), carry_.size()}; }

 private:
  Result<bool> Fill(LineChunk& chunk);

  ByteSource& source_;
  size_t chunk_size_;
  size_t padding_;
  bool at_end_ = false;
  std::vector<char> carry_;  // the beginning of a line
};

}  // namespace graphkit
