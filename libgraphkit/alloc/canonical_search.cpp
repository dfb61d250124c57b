#include "libgraphkit/alloc/canonical_search.h"

#include <algorithm>
#include <array>
#include <functional>

namespace graphkit {
namespace {

Bytes AlignUp(Bytes offset, Bytes alignment) {
  return alignment == 1 ? offset : RoundUp(offset, alignment);
}

}  // namespace

CanonicalSearch::CanonicalSearch(const LifetimeArena& component, SearchOrder order)
    : loads_(component.loads) {
  const auto key = [&](uint32_t i) -> std::array<Bytes, 3> {
    const ArenaBlock& b = component.blocks[i];
    const auto width = static_cast<Bytes>(b.life.upper - b.life.lower);
    const Bytes area = width * b.size;
    const Bytes load =
        *std::max_element(loads_.begin() + b.life.lower, loads_.begin() + b.life.upper);
    switch (order) {
      case SearchOrder::kWidthAreaLoad:
        return {width, area, load};
      case SearchOrder::kLoadAreaWidth:
        return {load, area, width};
      case SearchOrder::kLoadWidthArea:
        return {load, width, area};
    }
    return {};
  };
  std::vector<std::pair<std::array<Bytes, 3>, uint32_t>> keyed;
  for (uint32_t i = 0; i < component.blocks.size(); ++i) keyed.emplace_back(key(i), ~i);
  std::sort(keyed.begin(), keyed.end(), std::greater<>());
  for (const auto& entry : keyed) {
    const ArenaBlock& b = component.blocks[~entry.second];
    items_.push_back({~entry.second, b.size, b.alignment, b.life.lower, b.life.upper});
  }
  BuildSections();
  BuildNeighbours();
}

void CanonicalSearch::BuildSections() {
  std::vector<std::vector<uint32_t>> in(loads_.size());
  for (uint32_t rank = 0; rank < items_.size(); ++rank) {
    for (int32_t s = items_[rank].lower; s < items_[rank].upper; ++s) {
      in[static_cast<size_t>(s)].push_back(rank);
    }
  }
  section_begin_.push_back(0);
  for (const std::vector<uint32_t>& section : in) {
    section_items_.insert(section_items_.end(), section.begin(), section.end());
    section_begin_.push_back(static_cast<uint32_t>(section_items_.size()));
  }
}

void CanonicalSearch::BuildNeighbours() {
  neighbour_begin_.push_back(0);
  for (uint32_t a = 0; a < items_.size(); ++a) {
    for (uint32_t b = 0; b < items_.size(); ++b) {
      const bool overlap = items_[a].lower < items_[b].upper && items_[b].lower < items_[a].upper;
      if (a != b && overlap) neighbours_.push_back(b);
    }
    neighbour_begin_.push_back(static_cast<uint32_t>(neighbours_.size()));
  }
}

void CanonicalSearch::Reset() {
  placed_.assign(items_.size(), 0);
  offset_.assign(items_.size(), 0);
  rest_ = loads_;
  floor_.assign(loads_.size(), 0);
  crossing_.assign(loads_.size() + 1, 0);
  for (const Item& item : items_) {
    for (int32_t s = item.lower + 1; s < item.upper; ++s) ++crossing_[static_cast<size_t>(s)];
  }
  offset_trail_.clear();
  floor_trail_.clear();
}

SearchOutcome CanonicalSearch::Run(Bytes capacity, uint64_t max_nodes,
                                   const std::atomic<bool>* stop) {
  capacity_ = capacity;
  max_nodes_ = max_nodes;
  nodes_ = 0;
  stop_ = stop;
  Reset();
  solution_.assign(items_.size(), 0);
  Part whole{0, static_cast<int32_t>(loads_.size()), {}};
  for (uint32_t rank = 0; rank < items_.size(); ++rank) whole.unplaced.push_back(rank);
  if (!Fits(whole, 0)) return SearchOutcome::kInfeasible;
  return SearchParts(whole, {0, 0});
}

// What may come next, in order: not before the last one, and below every top that is still
// possible.
std::vector<CanonicalSearch::Candidate> CanonicalSearch::Candidates(const Part& part,
                                                                    Candidate last) const {
  Bytes lowest_top = ~Bytes{0};
  for (const uint32_t rank : part.unplaced) {
    lowest_top = std::min(lowest_top, offset_[rank] + items_[rank].size);
  }
  std::vector<Candidate> candidates;
  for (const uint32_t rank : part.unplaced) {
    const Candidate c{offset_[rank], rank};
    if (c < last || c.offset >= lowest_top) continue;
    candidates.push_back(c);
  }
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

SearchOutcome CanonicalSearch::Search(const Part& part, Candidate last) {
  if (++nodes_ > max_nodes_ || (stop_ && stop_->load(std::memory_order_relaxed))) {
    return SearchOutcome::kGaveUp;
  }
  for (const Candidate& chosen : Candidates(part, last)) {
    const SearchOutcome outcome = Descend(part, chosen);
    if (outcome != SearchOutcome::kInfeasible) return outcome;
    if (MustComeNow(chosen)) break;
  }
  return SearchOutcome::kInfeasible;
}

SearchOutcome CanonicalSearch::Descend(const Part& part, Candidate chosen) {
  const size_t offset_mark = offset_trail_.size();
  const size_t floor_mark = floor_trail_.size();
  Place(chosen);
  SearchOutcome outcome = SearchOutcome::kInfeasible;
  if (Fits(part, chosen.offset)) {
    Part rest{part.lower, part.upper, {}};
    rest.unplaced.reserve(part.unplaced.size());
    for (const uint32_t rank : part.unplaced) {
      if (rank != chosen.rank) rest.unplaced.push_back(rank);
    }
    solution_[items_[chosen.rank].block] = chosen.offset;
    outcome = HasCut(part, items_[chosen.rank]) ? SearchParts(rest, chosen)
              : rest.unplaced.empty()           ? SearchOutcome::kFound
                                                : Search(rest, chosen);
  }
  Undo(chosen, offset_mark, floor_mark);
  return outcome;
}

// Searches each part between cuts by itself, the tightest first: what fails in one can't be helped
// by the others.
SearchOutcome CanonicalSearch::SearchParts(const Part& whole, Candidate chosen) {
  std::vector<Part> parts;
  std::vector<uint32_t> part_of(static_cast<size_t>(whole.upper - whole.lower));
  for (int32_t s = whole.lower; s < whole.upper; ++s) {
    if (s == whole.lower || crossing_[static_cast<size_t>(s)] == 0) parts.push_back({s, s, {}});
    parts.back().upper = s + 1;
    part_of[static_cast<size_t>(s - whole.lower)] = static_cast<uint32_t>(parts.size() - 1);
  }
  for (const uint32_t rank : whole.unplaced) {
    parts[part_of[static_cast<size_t>(items_[rank].lower - whole.lower)]].unplaced.push_back(rank);
  }
  std::erase_if(parts, [](const Part& p) { return p.unplaced.empty(); });
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part& a, const Part& b) { return Pressure(a) > Pressure(b); });
  for (const Part& part : parts) {
    const SearchOutcome outcome = Search(part, chosen);
    if (outcome != SearchOutcome::kFound) return outcome;
  }
  return SearchOutcome::kFound;
}

void CanonicalSearch::Place(Candidate chosen) {
  const Item& item = items_[chosen.rank];
  placed_[chosen.rank] = 1;
  int32_t lower = item.lower;
  int32_t upper = item.upper;
  const Bytes top = chosen.offset + item.size;
  for (const uint32_t other : Neighbours(chosen.rank)) {
    if (placed_[other] || offset_[other] >= top) continue;
    offset_trail_.push_back({other, offset_[other]});
    offset_[other] = AlignUp(top, items_[other].alignment);
    lower = std::min(lower, items_[other].lower);
    upper = std::max(upper, items_[other].upper);
  }
  for (int32_t s = item.lower; s < item.upper; ++s) rest_[static_cast<size_t>(s)] -= item.size;
  for (int32_t s = item.lower + 1; s < item.upper; ++s) --crossing_[static_cast<size_t>(s)];
  RaiseFloors(lower, upper);
}

void CanonicalSearch::RaiseFloors(int32_t lower, int32_t upper) {
  for (int32_t s = lower; s < upper; ++s) {
    const auto section = static_cast<size_t>(s);
    Bytes lowest = ~Bytes{0};
    for (const uint32_t rank : InSection(section)) {
      if (!placed_[rank]) lowest = std::min(lowest, offset_[rank]);
    }
    if (lowest == floor_[section] || rest_[section] == 0) continue;
    floor_trail_.push_back({static_cast<uint32_t>(s), floor_[section]});
    floor_[section] = lowest;
  }
}

void CanonicalSearch::Undo(Candidate chosen, size_t offset_mark, size_t floor_mark) {
  const Item& item = items_[chosen.rank];
  placed_[chosen.rank] = 0;
  for (int32_t s = item.lower; s < item.upper; ++s) rest_[static_cast<size_t>(s)] += item.size;
  for (int32_t s = item.lower + 1; s < item.upper; ++s) ++crossing_[static_cast<size_t>(s)];
  for (; offset_trail_.size() > offset_mark; offset_trail_.pop_back()) {
    offset_[offset_trail_.back().index] = offset_trail_.back().before;
  }
  for (; floor_trail_.size() > floor_mark; floor_trail_.pop_back()) {
    floor_[floor_trail_.back().index] = floor_trail_.back().before;
  }
}

// Whether each section can hold its unplaced blocks above its floor and above the offset that the
// search has reached.
bool CanonicalSearch::Fits(const Part& part, Bytes offset) const {
  for (int32_t s = part.lower; s < part.upper; ++s) {
    const auto section = static_cast<size_t>(s);
    if (rest_[section] && std::max(offset, floor_[section]) + rest_[section] > capacity_) {
      return false;
    }
  }
  return true;
}

// A block that is passed over has to be lifted by an unplaced one that it conflicts with.
bool CanonicalSearch::MustComeNow(Candidate chosen) const {
  Bytes lifted = ~Bytes{0};
  for (const uint32_t other : Neighbours(chosen.rank)) {
    if (placed_[other]) continue;
    lifted = std::min(lifted, std::max(offset_[other], chosen.offset) + items_[other].size);
  }
  return lifted > capacity_ || lifted + items_[chosen.rank].size > capacity_;
}

bool CanonicalSearch::HasCut(const Part& part, const Item& item) const {
  for (int32_t s = std::max(item.lower, part.lower + 1); s < item.upper; ++s) {
    if (crossing_[static_cast<size_t>(s)] == 0) return true;
  }
  return false;
}

Bytes CanonicalSearch::Pressure(const Part& part) const {
  Bytes most = 0;
  for (int32_t s = part.lower; s < part.upper; ++s) {
    const auto section = static_cast<size_t>(s);
    if (rest_[section]) most = std::max(most, floor_[section] + rest_[section]);
  }
  return most;
}

}  // namespace graphkit
