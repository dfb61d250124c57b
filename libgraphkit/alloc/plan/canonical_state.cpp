#include "libgraphkit/alloc/plan/canonical_state.h"

namespace graphkit {
namespace {

Bytes AlignUp(Bytes offset, Bytes alignment) {
  return alignment == 1 ? offset : RoundUp(offset, alignment);
}

size_t Index(int32_t section) { return static_cast<size_t>(section); }

}  // namespace

CanonicalState::CanonicalState(const LifetimeArena& component, const ConflictLists& conflicts)
    : component_(component),
      conflicts_(conflicts),
      seen_(component.loads.size()),
      failures_(component.loads.size()),
      old_failures_(component.loads.size()) {
  for (const ArenaBlock& block : component.blocks) sizes_.push_back(block.size);
  BuildSections();
}

void CanonicalState::BuildSections() {
  std::vector<std::vector<uint32_t>> in(component_.loads.size());
  for (uint32_t block = 0; block < sizes_.size(); ++block) {
    position_begin_.push_back(static_cast<uint32_t>(position_.size()));
    const RankLifetime life = component_.blocks[block].life;
    for (int32_t s = life.lower; s < life.upper; ++s) {
      position_.push_back(static_cast<uint32_t>(in[Index(s)].size()));
      in[Index(s)].push_back(block);
    }
  }
  section_begin_.push_back(0);
  for (const std::vector<uint32_t>& section : in) {
    section_blocks_.insert(section_blocks_.end(), section.begin(), section.end());
    section_begin_.push_back(static_cast<uint32_t>(section_blocks_.size()));
    unplaced_in_.push_back(static_cast<uint32_t>(section.size()));
  }
}

void CanonicalState::Reset(Bytes capacity) {
  capacity_ = capacity;
  work_ = sizes_.size();
  placed_.assign(sizes_.size(), 0);
  support_.assign(sizes_.size(), 0);
  bound_.assign(sizes_.size(), 0);
  rest_ = component_.loads;
  floor_.assign(rest_.size(), 0);
  crossing_.assign(rest_.size() + 1, 0);
  for (const ArenaBlock& block : component_.blocks) {
    for (int32_t s = block.life.lower + 1; s < block.life.upper; ++s) ++crossing_[Index(s)];
  }
  support_trail_.clear();
  bound_trail_.clear();
  floor_trail_.clear();
  dirty_.assign(rest_.size(), 0);
  dirty_list_.clear();
  for (size_t s = 0; s < failures_.size(); ++s) {
    old_failures_[s] += std::exchange(failures_[s], 0) - old_failures_[s] / 10;
  }
}

void CanonicalState::LeaveSections(uint32_t block) {
  const RankLifetime life = component_.blocks[block].life;
  const auto position = [&](uint32_t b, int32_t s) -> uint32_t& {
    return position_[position_begin_[b] + Index(s - component_.blocks[b].life.lower)];
  };
  for (int32_t s = life.lower; s < life.upper; ++s) {
    uint32_t* blocks = section_blocks_.data() + section_begin_[Index(s)];
    const uint32_t last = --unplaced_in_[Index(s)];
    const uint32_t moved = blocks[last];
    uint32_t& own = position(block, s);
    blocks[own] = moved;
    position(moved, s) = own;
    blocks[last] = block;
    own = last;
    rest_[Index(s)] -= sizes_[block];
  }
}

void CanonicalState::MarkDirty(RankLifetime life) {
  for (int32_t s = life.lower; s < life.upper; ++s) {
    if (dirty_[Index(s)]) continue;
    dirty_[Index(s)] = 1;
    dirty_list_.push_back(static_cast<uint32_t>(s));
  }
}

bool CanonicalState::RaiseBound(uint32_t block, Bytes bound) {
  const ArenaBlock& b = component_.blocks[block];
  bound = AlignUp(bound, b.alignment);
  if (bound <= bound_[block]) return true;
  bound_trail_.push_back({block, bound_[block]});
  bound_[block] = bound;
  MarkDirty(b.life);
  return bound + b.size <= capacity_;
}

bool CanonicalState::Place(uint32_t block, Bytes offset) {
  const ArenaBlock& b = component_.blocks[block];
  placed_[block] = 1;
  const Bytes top = offset + b.size;
  for (const uint32_t other : conflicts_.Of(block)) {
    if (placed_[other] || support_[other] >= top) continue;
    support_trail_.push_back({other, support_[other]});
    support_[other] = AlignUp(top, component_.blocks[other].alignment);
    RaiseBound(other, support_[other]);
  }
  LeaveSections(block);
  for (int32_t s = b.life.lower + 1; s < b.life.upper; ++s) --crossing_[Index(s)];
  MarkDirty(b.life);
  return Propagate(offset);
}

bool CanonicalState::PassOver(uint32_t block, Bytes offset) {
  Bytes lifted = capacity_;
  for (const uint32_t other : conflicts_.Of(block)) {
    if (placed_[other]) continue;
    lifted = std::min(lifted, std::max(bound_[other], offset) + sizes_[other]);
  }
  RaiseBound(block, lifted);
  return Propagate(offset);
}

bool CanonicalState::Propagate(Bytes reached) {
  bool sound = true;
  while (!dirty_list_.empty()) {
    const uint32_t section = dirty_list_.back();
    dirty_list_.pop_back();
    dirty_[section] = 0;
    if (!sound || TightenSection(section, reached)) continue;
    ++failures_[section];
    sound = false;
  }
  return sound;
}

bool CanonicalState::TightenSection(size_t section, Bytes reached) {
  if (rest_[section] == 0) return true;
  work_ += 2 * unplaced_in_[section];
  const Bytes highest_first = capacity_ - rest_[section];
  Bytes lowest = ~Bytes{0};
  Bytes top = ~Bytes{0};           // the lowest top of those that can be first
  Bytes lowest_other = ~Bytes{0};  // the lowest bound of those that can't
  for (const uint32_t block : UnplacedIn(section)) {
    const Bytes bound = std::max(bound_[block], reached);
    const bool first = bound <= highest_first;
    lowest = std::min(lowest, bound);
    top = std::min(top, first ? bound + sizes_[block] : ~Bytes{0});
    lowest_other = std::min(lowest_other, first ? ~Bytes{0} : bound);
  }
  if (top == ~Bytes{0}) return false;
  if (lowest > floor_[section]) {
    floor_trail_.push_back({static_cast<uint32_t>(section), floor_[section]});
    floor_[section] = lowest;
  }
  if (lowest_other >= top) return true;
  for (const uint32_t block : UnplacedIn(section)) {
    if (std::max(bound_[block], reached) > highest_first && bound_[block] < top &&
        !RaiseBound(block, top)) {
      return false;
    }
  }
  return true;
}

void CanonicalState::UndoBounds(const Mark& mark) {
  for (; bound_trail_.size() > mark.bounds; bound_trail_.pop_back()) {
    bound_[bound_trail_.back().index] = bound_trail_.back().before;
  }
  for (; floor_trail_.size() > mark.floors; floor_trail_.pop_back()) {
    floor_[floor_trail_.back().index] = floor_trail_.back().before;
  }
}

void CanonicalState::UndoPlace(uint32_t block, const Mark& mark) {
  const ArenaBlock& b = component_.blocks[block];
  placed_[block] = 0;
  for (int32_t s = b.life.lower; s < b.life.upper; ++s) {
    rest_[Index(s)] += b.size;
    ++unplaced_in_[Index(s)];
  }
  for (int32_t s = b.life.lower + 1; s < b.life.upper; ++s) ++crossing_[Index(s)];
  for (; support_trail_.size() > mark.supports; support_trail_.pop_back()) {
    support_[support_trail_.back().index] = support_trail_.back().before;
  }
  UndoBounds(mark);
}

bool CanonicalState::Fits(int32_t lower, int32_t upper, Bytes offset) {
  for (int32_t s = lower; s < upper; ++s) {
    const Bytes rest = rest_[Index(s)];
    if (rest == 0 || std::max(offset, floor_[Index(s)]) + rest <= capacity_) continue;
    ++failures_[Index(s)];
    return false;
  }
  return true;
}

double CanonicalState::Lost(uint32_t block, Bytes offset, const Mark& mark) {
  const ArenaBlock& b = component_.blocks[block];
  double lost = 0;
  ++look_;
  work_ += floor_trail_.size() - mark.floors;
  for (size_t i = mark.floors; i < floor_trail_.size(); ++i) {
    const uint32_t s = floor_trail_[i].index;
    if (std::exchange(seen_[s], look_) == look_ || rest_[s] == 0) continue;
    const bool lived = std::cmp_greater_equal(s, b.life.lower) && std::cmp_less(s, b.life.upper);
    const Bytes before = std::max(floor_trail_[i].before, offset) + (lived ? b.size : 0);
    const Bytes after = std::max(floor_[s], offset);
    if (after > before) {
      const uint64_t failures = old_failures_[s] + failures_[s];
      lost += static_cast<double>(after - before) * static_cast<double>(failures + 1);
    }
  }
  return lost;
}

Bytes CanonicalState::Pressure(int32_t lower, int32_t upper) const {
  Bytes most = 0;
  for (int32_t s = lower; s < upper; ++s) {
    if (rest_[Index(s)] != 0) most = std::max(most, floor_[Index(s)] + rest_[Index(s)]);
  }
  return most;
}

}  // namespace graphkit
