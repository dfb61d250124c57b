#include "libgraphkit/io/trace/line_chunks.h"

#include <algorithm>
#include <cstring>

namespace graphkit {
namespace {

constexpr size_t kLongestLine = size_t{256} << 20;

}  // namespace

// Appends up to chunk_size_ bytes to the chunk.
Result<bool> LineChunks::Fill(LineChunk& chunk) {
  chunk.buffer_.resize(std::max(chunk.buffer_.size(), chunk.size_ + chunk_size_ + padding_));
  char* begin = chunk.buffer_.data() + chunk.size_;
  const Result<size_t> count = source_.Read({begin, chunk_size_});
  if (!count) return count.error();
  at_end_ = *count < chunk_size_;
  size_t kept = *count;
  if (const void* nul = std::memchr(begin, '\0', kept)) {
    kept = static_cast<size_t>(static_cast<const char*>(nul) - begin);
    at_end_ = true;
  }
  chunk.size_ += kept;
  return true;
}

Result<bool> LineChunks::Next(LineChunk& chunk) {
  chunk.buffer_.resize(std::max(chunk.buffer_.size(), carry_.size()));
  std::ranges::copy(carry_, chunk.buffer_.begin());
  chunk.size_ = carry_.size();
  const char* feed = nullptr;
  while (feed == nullptr && !at_end_) {
    const size_t seen = chunk.size_;
    if (seen > kLongestLine) {
      return Error{.message = "a line is longer than 256 MiB", .hint = "this isn't a trace"};
    }
    if (Result<bool> filled = Fill(chunk); !filled) return filled;
    feed = static_cast<const char*>(memrchr(chunk.buffer_.data() + seen, '\n', chunk.size_ - seen));
  }
  const size_t whole = feed == nullptr ? 0 : static_cast<size_t>(feed - chunk.buffer_.data()) + 1;
  carry_.assign(chunk.buffer_.data() + whole, chunk.buffer_.data() + chunk.size_);
  chunk.size_ = whole;
  return whole != 0;
}

}  // namespace graphkit
