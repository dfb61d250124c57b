#include "libgraphkit/ran/clock_rows.h"

#include <algorithm>

#include "libgraphkit/group_by.h"

namespace graphkit {

uint32_t ClockRows::CountDeep(Row row, uint32_t chain) const {
  uint32_t depth = row & kDepthMask;
  if (depth == 0 || (chain >> std::min(31u, depth * kWidthBits)) != 0) return 0;
  uint32_t tile = row >> kDepthBits;
  for (uint32_t level = depth - 1; level > 0; --level) {
    tile = tiles_[tile].v[(chain >> (level * kWidthBits)) & (kWidth - 1)];
  }
  return tiles_[tile].v[chain & (kWidth - 1)];
}

bool ClockRows::NoneAbove(const Tile& a, const Tile& b) {
  uint32_t above = 0;
  for (uint32_t i = 0; i < kWidth; ++i) above |= a.v[i] > b.v[i] ? 1u : 0u;
  return above == 0;
}

// `but`: columns counted from this tile's first; out of range when they lie elsewhere.
bool ClockRows::TilesWithin(uint32_t a, uint32_t b, uint32_t depth,
                            std::array<uint32_t, 2> but) const {
  if (a == b || a == 0) return true;
  if (depth == 1 && NoneAbove(tiles_[a], tiles_[b])) return true;
  const uint32_t shift = (depth - 1) * kWidthBits;
  for (uint32_t slot = 0; slot < kWidth; ++slot) {
    const uint32_t left = tiles_[a].v[slot];
    const uint32_t right = tiles_[b].v[slot];
    if (depth == 1) {
      if (left > right && slot != but[0] && slot != but[1]) return false;
      continue;
    }
    const uint32_t first = slot << shift;
    if (!TilesWithin(left, right, depth - 1, {but[0] - first, but[1] - first})) return false;
  }
  return true;
}

// The tile that holds the first 16^depth columns of a row, or of a deeper one all that it holds
// there.
uint32_t ClockRows::TileAt(Row row, uint32_t depth) const {
  uint32_t tile = row >> kDepthBits;
  for (uint32_t at = row & kDepthMask; at > depth; --at) tile = tiles_[tile].v[0];
  return tile;
}

bool ClockRows::Within(Row a, Row b, uint32_t but, uint32_t and_but) const {
  if (a == b || a == kEmpty) return true;
  const uint32_t depth = a & kDepthMask;
  const uint32_t other = b & kDepthMask;
  if (other >= depth) {
    return TilesWithin(a >> kDepthBits, TileAt(b, depth), depth, {but, and_but});
  }
  uint32_t tile = a >> kDepthBits;
  for (uint32_t at = depth; at > other; --at) {  // what lies beyond b's columns
    for (uint32_t slot = 1; slot < kWidth; ++slot) {
      const uint32_t first = slot << ((at - 1) * kWidthBits);
      const std::array<uint32_t, 2> others = {but - first, and_but - first};
      const uint32_t child = tiles_[tile].v[slot];
      if (at > 1 ? !TilesWithin(child, 0, at - 1, others)
                 : child != 0 && others[0] != 0 && others[1] != 0)
        return false;
    }
    if (at > 1) tile = tiles_[tile].v[0];
  }
  if (other > 0) return TilesWithin(tile, b >> kDepthBits, other, {but, and_but});
  return tiles_[tile].v[0] == 0 || but == 0 || and_but == 0;
}

// The tile itself when it may be changed in place, else a copy that may.
uint32_t ClockRows::Soft(uint32_t tile) {
  if (tile >= first_soft_) return tile;
  tiles_.push_back(Tile(tiles_[tile]));
  return static_cast<uint32_t>(tiles_.size() - 1);
}

uint32_t ClockRows::JoinLeaves(uint32_t a, uint32_t b) {
  const Tile& left = tiles_[a];
  const Tile& right = tiles_[b];
  Tile most;
  for (uint32_t i = 0; i < kWidth; ++i) most.v[i] = std::max(left.v[i], right.v[i]);
  if (most == left) return a;
  if (most == right) return b;
  const uint32_t tile = Soft(a);
  tiles_[tile] = most;
  return tile;
}

uint32_t ClockRows::JoinTiles(uint32_t a, uint32_t b, uint32_t depth) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  ++looks_;
  if (depth == 1) return JoinLeaves(a, b);
  Tile most;
  for (uint32_t i = 0; i < kWidth; ++i) {
    most.v[i] = JoinTiles(tiles_[a].v[i], tiles_[b].v[i], depth - 1);
  }
  if (most == tiles_[a]) return a;
  if (most == tiles_[b]) return b;
  const uint32_t tile = Soft(a);
  tiles_[tile] = most;
  return tile;
}

// The same row, with room for 16^depth chains.
ClockRows::Row ClockRows::Deepen(Row row, uint32_t depth) {
  uint32_t tile = row >> kDepthBits;
  uint32_t at = row & kDepthMask;
  if (at == 0 || tile == 0) return depth;
  for (; at < depth; ++at) {
    tiles_.emplace_back();
    tiles_.back().v[0] = tile;
    tile = static_cast<uint32_t>(tiles_.size() - 1);
  }
  return tile << kDepthBits | depth;
}

ClockRows::Row ClockRows::Join(Row into, Row other) {
  if (into == other || other == kEmpty) return into;
  if (into == kEmpty) return other;
  const uint32_t depth = std::max(into & kDepthMask, other & kDepthMask);
  into = Deepen(into, depth);
  other = Deepen(other, depth);
  return JoinTiles(into >> kDepthBits, other >> kDepthBits, depth) << kDepthBits | depth;
}

// The values at one place in some tiles, except zeros.
std::vector<uint32_t> ClockRows::Children(std::span<const uint32_t> tiles, uint32_t slot) const {
  std::vector<uint32_t> children;
  for (const uint32_t tile : tiles) {
    if (tiles_[tile].v[slot] != 0) children.push_back(tiles_[tile].v[slot]);
  }
  return children;
}

uint32_t ClockRows::JoinTiles(std::vector<uint32_t>* tiles, uint32_t depth) {
  SortUnique(tiles);
  if (tiles->size() < 2) return tiles->empty() ? 0 : tiles->front();
  looks_ += tiles->size();
  Tile most;
  for (uint32_t slot = 0; slot < kWidth; ++slot) {
    std::vector<uint32_t> children = Children(*tiles, slot);
    if (children.empty()) continue;
    most.v[slot] =
        depth == 1 ? *std::ranges::max_element(children) : JoinTiles(&children, depth - 1);
  }
  const auto same = std::ranges::find(*tiles, most, [&](uint32_t tile) { return tiles_[tile]; });
  if (same != tiles->end()) return *same;
  tiles_.push_back(most);
  return static_cast<uint32_t>(tiles_.size() - 1);
}

ClockRows::Row ClockRows::JoinAll(std::span<const Row> rows) {
  uint32_t depth = 0;
  for (const Row row : rows) depth = std::max(depth, row & kDepthMask);
  std::vector<uint32_t> tiles;
  for (const Row row : rows) {
    if (row != kEmpty) tiles.push_back(Deepen(row, depth) >> kDepthBits);
  }
  if (tiles.empty()) return kEmpty;
  return JoinTiles(&tiles, depth) << kDepthBits | depth;
}

void ClockRows::MostOfTiles(std::vector<uint32_t>* tiles, uint32_t depth, size_t first,
                            std::span<uint32_t> most) const {
  SortUnique(tiles);
  if (depth == 1) {
    const std::span<uint32_t> columns = most.subspan(first);
    for (const uint32_t tile : *tiles) {
      for (size_t slot = 0; slot < std::min<size_t>(kWidth, columns.size()); ++slot)
        columns[slot] = std::max(columns[slot], tiles_[tile].v[slot]);
    }
    return;
  }
  for (uint32_t slot = 0; slot < kWidth; ++slot) {
    std::vector<uint32_t> children = Children(*tiles, slot);
    if (children.empty()) continue;
    MostOfTiles(&children, depth - 1, first + (size_t{slot} << ((depth - 1) * kWidthBits)), most);
  }
}

// Rows of different depths are seen apart.
void ClockRows::MostOf(std::span<const Row> rows, std::span<uint32_t> most) const {
  std::array<std::vector<uint32_t>, kDepthMask + 1> by_depth;
  for (const Row row : rows) {
    if (row != kEmpty) by_depth[row & kDepthMask].push_back(row >> kDepthBits);
  }
  for (uint32_t depth = 1; depth < by_depth.size(); ++depth) {
    MostOfTiles(&by_depth[depth], depth, 0, most);
  }
}

uint32_t ClockRows::RaiseTile(uint32_t tile, uint32_t depth, uint32_t chain, uint32_t count) {
  const uint32_t slot = (chain >> ((depth - 1) * kWidthBits)) & (kWidth - 1);
  const uint32_t soft = Soft(tile);
  if (depth == 1) {
    tiles_[soft].v[slot] = count;
  } else {
    const uint32_t child = RaiseTile(tiles_[soft].v[slot], depth - 1, chain, count);
    tiles_[soft].v[slot] = child;
  }
  return soft;
}

ClockRows::Row ClockRows::Raise(Row into, uint32_t chain, uint32_t count) {
  if (count == 0 || Count(into, chain) >= count) return into;
  uint32_t depth = std::max(1u, into & kDepthMask);
  while (depth * kWidthBits < 32 && (chain >> (depth * kWidthBits)) != 0) ++depth;
  if (depth != (into & kDepthMask)) into = Deepen(into, depth);
  return RaiseTile(into >> kDepthBits, depth, chain, count) << kDepthBits | depth;
}

}  // namespace graphkit
