#include "libgraphkit/alloc/plan/canonical_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <random>

namespace graphkit {
namespace {

Bytes AlignUp(Bytes offset, Bytes alignment) {
  return alignment == 1 ? offset : RoundUp(offset, alignment);
}

// How many times its width a block may gain by lying in the section that failed most.
constexpr double kBlame = 4;

}  // namespace

CanonicalSearch::CanonicalSearch(const LifetimeArena& component, SearchOrder order, uint64_t seed,
                                 std::span<const uint64_t> failures)
    : loads_(component.loads), failures_(component.loads.size()) {
  std::mt19937_64 random(seed);
  const auto disturbed = [&](Bytes key) { return seed ? key + random() % (key / 4 + 1) : key; };
  const uint64_t most = failures.empty() ? 0 : *std::max_element(failures.begin(), failures.end());
  const auto blamed = [&](Bytes key, RankLifetime life) {
    if (most == 0) return key;
    const uint64_t worst =
        *std::max_element(failures.begin() + life.lower, failures.begin() + life.upper);
    const double share = static_cast<double>(worst) / static_cast<double>(most);
    return key + static_cast<Bytes>(kBlame * share * static_cast<double>(key));
  };
  const auto key = [&](uint32_t i) -> std::array<Bytes, 3> {
    const ArenaBlock& b = component.blocks[i];
    const Bytes width = blamed(disturbed(b.length), b.life);
    const Bytes area = disturbed(width * b.size);
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
    sizes_.push_back(b.size);
  }
  BuildSections();
  BuildNeighbours();
}

void CanonicalSearch::BuildSections() {
  std::vector<std::vector<uint32_t>> in(loads_.size());
  for (uint32_t rank = 0; rank < items_.size(); ++rank) {
    position_begin_.push_back(static_cast<uint32_t>(position_.size()));
    for (int32_t s = items_[rank].lower; s < items_[rank].upper; ++s) {
      position_.push_back(static_cast<uint32_t>(in[static_cast<size_t>(s)].size()));
      in[static_cast<size_t>(s)].push_back(rank);
    }
  }
  section_begin_.push_back(0);
  for (const std::vector<uint32_t>& section : in) {
    section_items_.insert(section_items_.end(), section.begin(), section.end());
    section_begin_.push_back(static_cast<uint32_t>(section_items_.size()));
    unplaced_in_.push_back(static_cast<uint32_t>(section.size()));
  }
}

void CanonicalSearch::LeaveSections(uint32_t rank) {
  const Item& item = items_[rank];
  const auto position = [&](uint32_t r, int32_t s) -> uint32_t& {
    return position_[position_begin_[r] + static_cast<uint32_t>(s - items_[r].lower)];
  };
  for (int32_t s = item.lower; s < item.upper; ++s) {
    const auto section = static_cast<size_t>(s);
    uint32_t* items = section_items_.data() + section_begin_[section];
    const uint32_t last = --unplaced_in_[section];
    const uint32_t moved = items[last];
    uint32_t& own = position(rank, s);
    items[own] = moved;
    position(moved, s) = own;
    items[last] = rank;
    own = last;
    rest_[section] -= item.size;
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
  support_.assign(items_.size(), 0);
  bound_.assign(items_.size(), 0);
  rest_ = loads_;
  floor_.assign(loads_.size(), 0);
  crossing_.assign(loads_.size() + 1, 0);
  for (const Item& item : items_) {
    for (int32_t s = item.lower + 1; s < item.upper; ++s) ++crossing_[static_cast<size_t>(s)];
  }
  support_trail_.clear();
  bound_trail_.clear();
  floor_trail_.clear();
  dirty_.assign(loads_.size(), 0);
  dirty_list_.clear();
}

SearchOutcome CanonicalSearch::Run(Bytes capacity, uint64_t max_nodes, uint64_t max_work,
                                   const std::atomic<bool>* stop) {
  capacity_ = capacity;
  max_nodes_ = max_nodes;
  max_work_ = max_work;
  nodes_ = 0;
  work_ = items_.size();
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
    lowest_top = std::min(lowest_top, support_[rank] + items_[rank].size);
  }
  std::vector<Candidate> candidates;
  for (const uint32_t rank : part.unplaced) {
    const Candidate c{support_[rank], rank};
    if (c < last || c.offset >= lowest_top || bound_[rank] > c.offset) continue;
    candidates.push_back(c);
  }
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

SearchOutcome CanonicalSearch::Search(const Part& part, Candidate last) {
  work_ += part.unplaced.size();
  if (++nodes_ > max_nodes_ || work_ > max_work_ ||
      (stop_ && stop_->load(std::memory_order_relaxed))) {
    return SearchOutcome::kGaveUp;
  }
  const Marks marks = Now();
  SearchOutcome outcome = SearchOutcome::kInfeasible;
  for (const Candidate& chosen : Candidates(part, last)) {
    if (bound_[chosen.rank] > chosen.offset) continue;  // raised since the list was made
    outcome = Descend(part, chosen);
    if (outcome != SearchOutcome::kInfeasible || !PassOver(chosen)) break;
  }
  UndoBounds(marks);
  return outcome;
}

SearchOutcome CanonicalSearch::Descend(const Part& part, Candidate chosen) {
  const Marks marks = Now();
  Place(chosen);
  SearchOutcome outcome = SearchOutcome::kInfeasible;
  if (Propagate(chosen.offset) && Fits(part, chosen.offset)) {
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
  Undo(chosen, marks);
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

void CanonicalSearch::MarkDirty(int32_t lower, int32_t upper) {
  for (int32_t s = lower; s < upper; ++s) {
    const auto section = static_cast<size_t>(s);
    if (dirty_[section]) continue;
    dirty_[section] = 1;
    dirty_list_.push_back(static_cast<uint32_t>(s));
  }
}

bool CanonicalSearch::RaiseBound(uint32_t rank, Bytes bound) {
  const Item& item = items_[rank];
  bound = AlignUp(bound, item.alignment);
  if (bound <= bound_[rank]) return true;
  bound_trail_.push_back({rank, bound_[rank]});
  bound_[rank] = bound;
  MarkDirty(item.lower, item.upper);
  return bound + item.size <= capacity_;
}

void CanonicalSearch::Place(Candidate chosen) {
  const Item& item = items_[chosen.rank];
  placed_[chosen.rank] = 1;
  const Bytes top = chosen.offset + item.size;
  for (const uint32_t other : Neighbours(chosen.rank)) {
    if (placed_[other] || support_[other] >= top) continue;
    support_trail_.push_back({other, support_[other]});
    support_[other] = AlignUp(top, items_[other].alignment);
    RaiseBound(other, support_[other]);
  }
  LeaveSections(chosen.rank);
  for (int32_t s = item.lower + 1; s < item.upper; ++s) --crossing_[static_cast<size_t>(s)];
  MarkDirty(item.lower, item.upper);
}

// A candidate that isn't placed now has to be lifted by an unplaced block that it conflicts with.
// False: nothing can lift it.
bool CanonicalSearch::PassOver(Candidate passed) {
  Bytes lifted = capacity_;
  for (const uint32_t other : Neighbours(passed.rank)) {
    if (placed_[other]) continue;
    lifted = std::min(lifted, std::max(bound_[other], passed.offset) + items_[other].size);
  }
  RaiseBound(passed.rank, lifted);
  return Propagate(passed.offset);
}

// Tightens bounds until nothing changes. `reached`: no unplaced block will lie lower. False: some
// section can't hold its blocks.
bool CanonicalSearch::Propagate(Bytes reached) {
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

// Only a block that leaves room for all others of the section above it can be the lowest one. Each
// other block lies above the top of one of those.
bool CanonicalSearch::TightenSection(size_t section, Bytes reached) {
  if (rest_[section] == 0) return true;
  work_ += 2 * unplaced_in_[section];
  const Bytes highest_first = capacity_ - rest_[section];
  Bytes lowest = ~Bytes{0};
  Bytes top = ~Bytes{0};           // the lowest top of those that can be first
  Bytes lowest_other = ~Bytes{0};  // the lowest bound of those that can't
  for (const uint32_t rank : UnplacedIn(section)) {
    const Bytes bound = std::max(bound_[rank], reached);
    const bool first = bound <= highest_first;
    lowest = std::min(lowest, bound);
    top = std::min(top, first ? bound + sizes_[rank] : ~Bytes{0});
    lowest_other = std::min(lowest_other, first ? ~Bytes{0} : bound);
  }
  if (top == ~Bytes{0}) return false;
  if (lowest > floor_[section]) {
    floor_trail_.push_back({static_cast<uint32_t>(section), floor_[section]});
    floor_[section] = lowest;
  }
  if (lowest_other >= top) return true;
  for (const uint32_t rank : UnplacedIn(section)) {
    if (std::max(bound_[rank], reached) > highest_first && bound_[rank] < top &&
        !RaiseBound(rank, top)) {
      return false;
    }
  }
  return true;
}

void CanonicalSearch::UndoBounds(const Marks& marks) {
  for (; bound_trail_.size() > marks.bounds; bound_trail_.pop_back()) {
    bound_[bound_trail_.back().index] = bound_trail_.back().before;
  }
  for (; floor_trail_.size() > marks.floors; floor_trail_.pop_back()) {
    floor_[floor_trail_.back().index] = floor_trail_.back().before;
  }
}

void CanonicalSearch::Undo(Candidate chosen, const Marks& marks) {
  const Item& item = items_[chosen.rank];
  placed_[chosen.rank] = 0;
  for (int32_t s = item.lower; s < item.upper; ++s) {
    rest_[static_cast<size_t>(s)] += item.size;
    ++unplaced_in_[static_cast<size_t>(s)];
  }
  for (int32_t s = item.lower + 1; s < item.upper; ++s) ++crossing_[static_cast<size_t>(s)];
  for (; support_trail_.size() > marks.supports; support_trail_.pop_back()) {
    support_[support_trail_.back().index] = support_trail_.back().before;
  }
  UndoBounds(marks);
}

// Whether each section can hold its unplaced blocks above its floor and above the offset that the
// search has reached.
bool CanonicalSearch::Fits(const Part& part, Bytes offset) {
  for (int32_t s = part.lower; s < part.upper; ++s) {
    const auto section = static_cast<size_t>(s);
    if (rest_[section] && std::max(offset, floor_[section]) + rest_[section] > capacity_) {
      ++failures_[section];
      return false;
    }
  }
  return true;
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
