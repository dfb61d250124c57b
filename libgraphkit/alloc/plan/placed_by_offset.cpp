#include "libgraphkit/alloc/plan/placed_by_offset.h"

#include <algorithm>

namespace graphkit {

void PlacedByOffset::Clear() {
  chunks_.clear();
  order_.clear();
  first_offsets_.clear();
}

// The last chunk that begins at or below the offset.
uint32_t PlacedByOffset::ChunkFor(Bytes offset) const {
  const auto above = std::upper_bound(first_offsets_.begin(), first_offsets_.end(), offset);
  return above == first_offsets_.begin()
             ? 0u
             : static_cast<uint32_t>(above - first_offsets_.begin() - 1);
}

void PlacedByOffset::Move(Chunk& from, uint32_t first, uint32_t last, Chunk& to, uint32_t at) {
  const auto move = [&](auto& source, auto& target) {
    if (&from == &to && at > first) {
      std::copy_backward(source.begin() + first, source.begin() + last,
                         target.begin() + at + (last - first));
    } else {
      std::copy(source.begin() + first, source.begin() + last, target.begin() + at);
    }
  };
  move(from.lowers, to.lowers);
  move(from.uppers, to.uppers);
  move(from.offsets, to.offsets);
  move(from.tops, to.tops);
}

void PlacedByOffset::Split(uint32_t place) {
  const auto made = static_cast<uint32_t>(chunks_.size());
  chunks_.emplace_back();
  Chunk& low = chunks_[order_[place]];
  Chunk& high = chunks_[made];
  constexpr uint32_t kHalf = kChunk / 2;
  Move(low, kHalf, kChunk, high, 0);
  low.size = kHalf;
  high.size = kChunk - kHalf;
  for (Chunk* c : {&low, &high}) {
    c->lower = *std::min_element(c->lowers.begin(), c->lowers.begin() + c->size);
    c->upper = *std::max_element(c->uppers.begin(), c->uppers.begin() + c->size);
  }
  order_.insert(order_.begin() + place + 1, made);
  first_offsets_.insert(first_offsets_.begin() + place + 1, high.offsets[0]);
}

void PlacedByOffset::Insert(Bytes offset, Bytes size, RankLifetime life) {
  if (order_.empty()) {
    chunks_.emplace_back();
    order_.push_back(0);
    first_offsets_.push_back(offset);
  }
  uint32_t place = ChunkFor(offset);
  if (chunks_[order_[place]].size == kChunk) {
    Split(place);
    place = ChunkFor(offset);
  }
  Chunk& c = chunks_[order_[place]];
  const auto at = static_cast<uint32_t>(
      std::upper_bound(c.offsets.begin(), c.offsets.begin() + c.size, offset) - c.offsets.begin());
  Move(c, at, c.size, c, at + 1);
  c.lowers[at] = life.lower;
  c.uppers[at] = life.upper;
  c.offsets[at] = offset;
  c.tops[at] = offset + size;
  ++c.size;
  c.lower = std::min(c.lower, life.lower);
  c.upper = std::max(c.upper, life.upper);
  first_offsets_[place] = c.offsets[0];
}

Bytes PlacedByOffset::FindGap(Bytes size, Bytes alignment, RankLifetime life, Fit fit,
                              Bytes limit) const {
  Bytes bottom = 0;  // all below is taken, or was too small a gap
  Bytes best = limit;
  Bytes best_spare = ~Bytes{0};
  for (const uint32_t place : order_) {
    const Chunk& c = chunks_[place];
    if (c.lower >= life.upper || c.upper <= life.lower) continue;
    std::array<uint8_t, kChunk> hits;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c.size; ++i) {
      hits[count] = static_cast<uint8_t>(i);
      count += uint32_t{c.lowers[i] < life.upper} & uint32_t{c.uppers[i] > life.lower};
    }
    for (uint32_t k = 0; k < count; ++k) {
      const uint32_t i = hits[k];
      if (c.offsets[i] >= bottom + size) {
        if (fit == Fit::kFirst) return bottom;
        const Bytes spare = c.offsets[i] - bottom - size;
        if (spare < best_spare) {
          best = bottom;
          best_spare = spare;
        }
      }
      if (c.tops[i] > bottom) {
        bottom = alignment == 1 ? c.tops[i] : RoundUp(c.tops[i], alignment);
        if (fit == Fit::kFirst && bottom + size > limit) return limit;
      }
    }
  }
  if (best_spare != ~Bytes{0}) return best;
  return bottom + size > limit ? limit : bottom;
}

}  // namespace graphkit
