// Columns of whole numbers in few bytes, for a page that unpacks them with a loop: each number as
// its difference to the one before, zigzag (0, -1, 1, -2, …), in groups of 7 bits, the lowest
// first, the top bit set on all but the last.
//
//     5, 5, 3   →   differences 5, 0, -2   →   10, 0, 3   →   bytes 0a 00 03
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphkit {

class PackedColumns {
 public:
  struct Column {
    std::string name;
    uint64_t count = 0;
    bool wide = false;  // has numbers of 2^32 and more
    bool operator==(const Column&) const = default;
  };

  // Begins a column; what is added next belongs to it.
  void Begin(std::string name);
  void Add(uint64_t value) {
    Column& column = columns_.back();
    ++column.count;
    if (value > std::numeric_limits<uint32_t>::max()) column.wide = true;
    const uint64_t difference = value - last_;
    last_ = value;
    uint64_t zigzag = difference << 1 ^ (0 - (difference >> 63));
    constexpr ptrdiff_t kMostBytes = 10;  // of a number
    if (end_ - at_ < kMostBytes) AddPiece();
    for (; zigzag >= 0x80; zigzag >>= 7) *at_++ = static_cast<char>(0x80 | (zigzag & 0x7f));
    *at_++ = static_cast<char>(zigzag);
  }

  // A whole column: `get` gives a number for each entry.
  template <typename Entries, typename Get>
  void AddAll(std::string name, const Entries& entries, Get get) {
    Begin(std::move(name));
    for (const auto& entry : entries) Add(get(entry));
  }

  const std::vector<Column>& columns() const { return columns_; }
  void AppendTo(std::string& bytes) const;

 private:
  std::vector<Column> columns_;
  void AddPiece();

  // Bytes don't move as the columns grow.
  struct Piece {
    std::unique_ptr<char[]> bytes;
    size_t used = 0;  // of the last one: up to at_
  };
  std::vector<Piece> pieces_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  uint64_t last_ = 0;
};

// Compressed as zlib streams are (RFC 1950), which a browser's DecompressionStream("deflate")
// reads. Empty for lack of memory: then the page says that it can't be read.
std::string Deflate(std::string_view bytes);

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

}  // namespace graphkit
