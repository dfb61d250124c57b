// Rows of vector clocks, stored once and shared: the memory behind order.h.
//
// A row holds for each chain of a graph how many of its first nodes are ordered before something.
// Most rows differ from the one they grew out of in a few chains, so a row is a persistent 16-ary
// tree: what two rows have in common they share, and joining two rows visits only what differs.
//
//     16 chains or fewer        up to 256                         up to 4096, …
//
//     row ─► [16 counts]        row ─► [16 tiles] ─► [16 counts]   one level more
//                                        └──────────► shared with other rows
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/large_pages.h"

namespace graphkit {

class ClockRows {
 public:
  // Refers to a row; kEmpty is the row of zeros. Fits in 31 bits.
  using Row = uint32_t;
  static constexpr Row kEmpty = 0;

  ClockRows() : tiles_(1) {}

  // The count of a chain in a row.
  uint32_t Count(Row row, uint32_t chain) const {
    uint32_t depth = row & kDepthMask;
    if (depth == 1) return chain < kWidth ? tiles_[row >> kDepthBits].v[chain] : 0;
    return CountDeep(row, chain);
  }

  // Prefetches what Count() will look at first.
  void Fetch(Row row) const { __builtin_prefetch(&tiles_[row >> kDepthBits]); }

  // True if a <= b in every chain but two.
  bool Within(Row a, Row b, uint32_t but, uint32_t and_but) const;

  // From here on, rows that already exist stay as they are; rows made since are still soft: joining
  // into them changes them in place. Call it before making the row of the next node.
  void Begin() { first_soft_ = static_cast<uint32_t>(tiles_.size()); }

  // Element-wise maximum. `into` may be changed in place if it is soft: use only the result.
  Row Join(Row into, Row other);
  // The same of many rows: a tile that some of them share is looked at once.
  Row JoinAll(std::span<const Row> rows);
  // Raises `most`, which has an entry for each chain, to the maximum of the rows.
  void MostOf(std::span<const Row> rows, std::span<uint32_t> most) const;

  // `into`, with the count of one chain at least `count`. As Join, `into` is used up.
  Row Raise(Row into, uint32_t chain, uint32_t count);

  // Forgets what was made since Begin() when none of it is kept.
  void DropSoft() { tiles_.resize(first_soft_); }
  bool IsSoft(Row row) const { return (row >> kDepthBits) >= first_soft_; }

  void Reserve(size_t rows) { tiles_.reserve(rows); }
  size_t bytes() const { return tiles_.size() * sizeof(Tile); }
  // Tiles that joins have looked at so far.
  uint64_t looks() const { return looks_; }

 private:
  static constexpr uint32_t kWidthBits = 4;
  static constexpr uint32_t kWidth = 1u << kWidthBits;
  static constexpr uint32_t kDepthBits = 3;
  static constexpr uint32_t kDepthMask = (1u << kDepthBits) - 1;

  // A leaf's counts, or an inner tile's children (indices in tiles_; 0: all zero).
  struct alignas(64) Tile {
    std::array<uint32_t, kWidth> v{};
    bool operator==(const Tile&) const = default;
  };

  uint32_t CountDeep(Row row, uint32_t chain) const;
  static bool NoneAbove(const Tile& a, const Tile& b);
  bool TilesWithin(uint32_t a, uint32_t b, uint32_t depth, std::array<uint32_t, 2> but) const;
  uint32_t TileAt(Row row, uint32_t depth) const;
  uint32_t Soft(uint32_t tile);
  uint32_t JoinTiles(uint32_t a, uint32_t b, uint32_t depth);
  uint32_t JoinTiles(std::vector<uint32_t>* tiles, uint32_t depth);
  std::vector<uint32_t> Children(std::span<const uint32_t> tiles, uint32_t slot) const;
  void MostOfTiles(std::vector<uint32_t>* tiles, uint32_t depth, size_t first,
                   std::span<uint32_t> most) const;
  uint32_t JoinLeaves(uint32_t a, uint32_t b);
  uint32_t RaiseTile(uint32_t tile, uint32_t depth, uint32_t chain, uint32_t count);
  Row Deepen(Row row, uint32_t depth);

  std::vector<Tile, LargePages<Tile>> tiles_;  // tile 0 is all zero, at every depth
  uint32_t first_soft_ = 1;
  uint64_t looks_ = 0;
};

}  // namespace graphkit
