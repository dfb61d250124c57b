// Columns of whole numbers in few bytes, for a page that unpacks them with a loop: each number as
// its difference to the one before, zigzag (0, -1, 1, -2, …), in groups of 7 bits, the lowest
// first, the top bit set on all but the last.
//
//     5, 5, 3   →   differences 5, 0, -2   →   10, 0, 3   →   bytes 0a 00 03
#pragma once

#include <cstdint>
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
  void Add(uint64_t value);

  // A whole column: `get` gives a number for each entry.
  template <typename Entries, typename Get>
  void AddAll(std::string name, const Entries& entries, Get get) {
    Begin(std::move(name));
    for (const auto& entry : entries) Add(get(entry));
  }

  const std::vector<Column>& columns() const { return columns_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::vector<Column> columns_;
  std::string bytes_;
  uint64_t last_ = 0;
};

// Compressed as zlib streams are (RFC 1950), which a browser's DecompressionStream("deflate")
// reads.
std::string Deflate(std::string_view bytes);

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);

}  // namespace graphkit
