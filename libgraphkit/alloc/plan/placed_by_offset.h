// The blocks placed so far, by offset, with their lifetimes; finds the gaps that a block fits into.
// Flat chunks in offset order; a query looks at each chunk's lifetimes in one straight loop.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

// The choice of a gap: the lowest, or the one with the least to spare (the lowest of equals).
enum class Fit : uint8_t { kFirst, kBest };

// [lower, upper), in ranks: any numbering of times that keeps the conflicts.
struct RankLifetime {
  int32_t lower = 0;
  int32_t upper = 0;
  bool operator==(const RankLifetime&) const = default;
};

class PlacedByOffset {
 public:
  void Insert(Bytes offset, Bytes size, RankLifetime life);
  // The offset of a gap for a block; above all that it conflicts with when none is large enough.
  // Gives up and returns `limit` when that would end above `limit`.
  Bytes FindGap(Bytes size, Bytes alignment, RankLifetime life, Fit fit, Bytes limit) const;
  void Clear();

 private:
  static constexpr uint32_t kChunk = 64;
  struct Chunk {
    uint32_t size = 0;
    int32_t lower = INT32_MAX;  // the least lower of all
    int32_t upper = INT32_MIN;  // the greatest upper of all
    std::array<int32_t, kChunk> lowers{};
    std::array<int32_t, kChunk> uppers{};
    std::array<Bytes, kChunk> offsets{};
    std::array<Bytes, kChunk> tops{};
  };
  uint32_t ChunkFor(Bytes offset) const;
  void Split(uint32_t place);
  static void Move(Chunk& from, uint32_t first, uint32_t last, Chunk& to, uint32_t at);

  std::vector<Chunk> chunks_;
  std::vector<uint32_t> order_;       // chunks by offset
  std::vector<Bytes> first_offsets_;  // of order_[i]'s first block
};

}  // namespace graphkit
