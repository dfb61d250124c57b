#include "libgraphkit/alloc/plan/canonical_search.h"

namespace graphkit {
namespace {

// How many times its width a block may gain by lying in the section that failed most.
constexpr double kBlame = 4;

// So much chance is in the choice among blocks that were tried.
constexpr double kChance = 0.25;
constexpr double kNoPlanLeft = -1;

Bytes AlignUp(Bytes offset, Bytes alignment) {
  return alignment == 1 ? offset : RoundUp(offset, alignment);
}

size_t Index(int32_t section) { return static_cast<size_t>(section); }

}  // namespace

CanonicalSearch::CanonicalSearch(const LifetimeArena& component, const ConflictLists& conflicts)
    : component_(component),
      state_(component, conflicts),
      rank_(component.blocks.size()),
      unplaced_(component.blocks.size()) {}

void CanonicalSearch::Rank(SearchOrder order, uint64_t seed) {
  const auto disturbed = [&](Bytes key) {
    return seed ? key + random_.Next() % (key / 4 + 1) : key;
  };
  const auto most_in = [&](const auto& by_section, uint32_t block) {
    uint64_t most = 0;
    for (const uint32_t s : state_.SectionsOf(block)) most = std::max(most, by_section[s]);
    return most;
  };
  const std::vector<uint64_t>& failures = state_.failures();
  const uint64_t most = *std::ranges::max_element(failures);
  std::vector<std::pair<std::array<Bytes, 3>, uint32_t>> keyed;
  for (uint32_t i = 0; i < component_.blocks.size(); ++i) {
    const ArenaBlock& b = component_.blocks[i];
    Bytes width = disturbed(b.length);
    if (most != 0) {
      const double share = static_cast<double>(most_in(failures, i)) / static_cast<double>(most);
      width += static_cast<Bytes>(kBlame * share * static_cast<double>(width));
    }
    const Bytes area = disturbed(width * b.size);
    const Bytes load = most_in(component_.loads, i);
    std::array<Bytes, 3> key = {load, width, area};
    if (order == SearchOrder::kWidthAreaLoad) key = {width, area, load};
    if (order == SearchOrder::kLoadAreaWidth) key = {load, area, width};
    keyed.emplace_back(key, ~i);
  }
  std::sort(keyed.begin(), keyed.end(), std::greater<>());
  for (uint32_t rank = 0; rank < keyed.size(); ++rank) rank_[~keyed[rank].second] = rank;
}

SearchOutcome CanonicalSearch::Run(const SearchAttempt& attempt) {
  attempt_ = attempt;
  nodes_ = 0;
  looked_ = 0;
  random_ = Random(attempt.seed);
  state_.Reset(attempt.capacity);
  Rank(attempt.order, attempt.seed);
  solution_.assign(component_.blocks.size(), 0);
  std::iota(unplaced_.begin(), unplaced_.end(), 0u);
  const Part whole{0, static_cast<int32_t>(component_.loads.size()), 0,
                   static_cast<uint32_t>(unplaced_.size())};
  if (!state_.Fits(whole.lower, whole.upper, 0)) return SearchOutcome::kInfeasible;
  return SearchParts(whole, 0);
}

bool CanonicalSearch::Exhausted() const {
  if (nodes_ > attempt_.max_nodes || work() > attempt_.max_work) return true;
  return attempt_.stop != nullptr && attempt_.stop->load(std::memory_order_relaxed);
}

// Blocks that may come next, in order: not below what was reached, and below every top that is
// still possible.
std::vector<CanonicalSearch::Candidate> CanonicalSearch::Candidates(const Part& part,
                                                                    Bytes reached) const {
  Bytes lowest_top = ~Bytes{0};
  for (uint32_t i = part.begin; i < part.end; ++i) {
    const uint32_t block = unplaced_[i];
    lowest_top = std::min(lowest_top, state_.support(block) + component_.blocks[block].size);
  }
  std::vector<Candidate> candidates;
  for (uint32_t i = part.begin; i < part.end; ++i) {
    const uint32_t block = unplaced_[i];
    const Bytes offset = state_.support(block);
    if (offset < reached || offset >= lowest_top || state_.bound(block) > offset) continue;
    candidates.push_back({offset, rank_[block], block});
  }
  std::ranges::sort(candidates, std::less<>());
  return candidates;
}

// The bytes lost with the candidate in its place.
double CanonicalSearch::Try(const Part& part, Candidate candidate) {
  const CanonicalState::Mark mark = state_.Now();
  double lost = kNoPlanLeft;
  if (state_.Place(candidate.block, candidate.offset) &&
      state_.Fits(part.lower, part.upper, candidate.offset)) {
    const double chance = static_cast<double>(random_.Below(1024)) / 1024;
    lost = state_.Lost(candidate.block, candidate.offset, mark);
    lost *= 1 + kChance * chance;
  }
  state_.UndoPlace(candidate.block, mark);
  return lost;
}

// Of the lowest candidates. Those whose bound was raised since they were listed are none any more.
CanonicalSearch::Choice CanonicalSearch::Choose(const Part& part,
                                                const std::vector<Candidate>& candidates) {
  std::array<const Candidate*, kMostTried> lowest{};
  size_t count = 0;
  for (const Candidate& candidate : candidates) {
    if (count == attempt_.tried || (count > 0 && candidate.offset != lowest[0]->offset)) break;
    if (state_.bound(candidate.block) <= candidate.offset) lowest[count++] = &candidate;
  }
  if (count <= 1) return {lowest[0]};
  Choice best;
  double least = 0;
  for (size_t i = 0; i < count; ++i) {
    if (state_.bound(lowest[i]->block) > lowest[i]->offset) continue;
    const double lost = Try(part, *lowest[i]);
    if (lost == kNoPlanLeft) {
      if (!state_.PassOver(lowest[i]->block, lowest[i]->offset)) return {nullptr, false};
    } else if (best.candidate == nullptr || lost < least) {
      best.candidate = lowest[i];
      least = lost;
    }
  }
  // A chosen one's bound may have been raised as others were passed over.
  const bool stands =
      best.candidate != nullptr && state_.bound(best.candidate->block) <= best.candidate->offset;
  return stands ? best : Choose(part, candidates);
}

SearchOutcome CanonicalSearch::Search(const Part& part, Bytes reached) {
  ++nodes_;
  if (Exhausted()) return SearchOutcome::kGaveUp;
  looked_ += part.end - part.begin;
  const CanonicalState::Mark mark = state_.Now();
  const std::vector<Candidate> candidates = Candidates(part, reached);
  SearchOutcome outcome = SearchOutcome::kInfeasible;
  while (outcome == SearchOutcome::kInfeasible) {
    const Choice choice = Choose(part, candidates);
    if (!choice.sound || choice.candidate == nullptr) break;
    const Candidate chosen = *choice.candidate;
    outcome = Descend(part, chosen);
    if (outcome != SearchOutcome::kInfeasible) break;
    if (!state_.PassOver(chosen.block, chosen.offset)) break;
  }
  state_.UndoBounds(mark);
  return outcome;
}

SearchOutcome CanonicalSearch::Descend(const Part& part, Candidate chosen) {
  const CanonicalState::Mark mark = state_.Now();
  const RankLifetime life = component_.blocks[chosen.block].life;
  SearchOutcome outcome = SearchOutcome::kInfeasible;
  if (state_.Place(chosen.block, chosen.offset) &&
      state_.Fits(part.lower, part.upper, chosen.offset)) {
    Part rest = part;
    const auto first = unplaced_.begin();
    std::iter_swap(std::find(first + part.begin, first + part.end, chosen.block),
                   first + --rest.end);
    solution_[chosen.block] = chosen.offset;
    bool cut = false;
    for (int32_t s = std::max(life.lower, part.lower + 1); s < life.upper && !cut; ++s)
      cut = state_.CutBefore(s);
    outcome = rest.begin == rest.end ? SearchOutcome::kFound
              : cut                  ? SearchParts(rest, chosen.offset)
                                     : Search(rest, chosen.offset);
  }
  state_.UndoPlace(chosen.block, mark);
  return outcome;
}

std::vector<CanonicalSearch::Part> CanonicalSearch::SplitAtCuts(const Part& whole) {
  std::vector<Part> parts;
  std::vector<uint32_t> part_of(static_cast<size_t>(whole.upper - whole.lower));
  for (int32_t s = whole.lower; s < whole.upper; ++s) {
    if (s == whole.lower || state_.CutBefore(s)) parts.push_back({s, s, 0, 0});
    parts.back().upper = s + 1;
    part_of[static_cast<size_t>(s - whole.lower)] = static_cast<uint32_t>(parts.size() - 1);
  }
  const auto part = [&](uint32_t block) {
    return part_of[static_cast<size_t>(component_.blocks[block].life.lower - whole.lower)];
  };
  const auto first = unplaced_.begin();
  std::ranges::sort(first + whole.begin, first + whole.end, {},
                    [&](uint32_t block) { return std::pair(part(block), block); });
  uint32_t at = whole.begin;
  for (uint32_t i = 0; i < parts.size(); ++i) {
    parts[i].begin = at;
    while (at < whole.end && part(unplaced_[at]) == i) ++at;
    parts[i].end = at;
  }
  std::erase_if(parts, [](const Part& p) { return p.begin == p.end; });
  return parts;
}

// Searches each part between cuts by itself, the tightest first: what fails in one can't be helped
// by the others.
SearchOutcome CanonicalSearch::SearchParts(const Part& whole, Bytes reached) {
  std::vector<Part> parts = SplitAtCuts(whole);
  std::ranges::stable_sort(parts, std::greater<>(), [&](const Part& part) {
    return state_.Pressure(part.lower, part.upper);
  });
  for (const Part& part : parts) {
    const SearchOutcome outcome = Search(part, reached);
    if (outcome != SearchOutcome::kFound) return outcome;
  }
  return SearchOutcome::kFound;
}

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
  position_begin_.push_back(0);
  unplaced_in_.resize(component_.loads.size());
  for (uint32_t block = 0; block < sizes_.size(); ++block) {
    const RankLifetime life = component_.blocks[block].life;
    if (component_.sections.empty()) {
      for (int32_t s = life.lower; s < life.upper; ++s)
        sections_.push_back(static_cast<uint32_t>(s));
    } else {
      const std::vector<uint32_t>& sections = component_.sections[block];
      sections_.insert(sections_.end(), sections.begin(), sections.end());
    }
    position_begin_.push_back(static_cast<uint32_t>(sections_.size()));
    for (const uint32_t s : SectionsOf(block)) position_.push_back(unplaced_in_[s]++);
  }
  section_begin_.assign(1, 0);
  for (const uint32_t blocks : unplaced_in_)
    section_begin_.push_back(section_begin_.back() + blocks);
  section_blocks_.resize(sections_.size());
  section_slots_.resize(sections_.size());
  for (uint32_t block = 0; block < sizes_.size(); ++block) {
    for (uint32_t slot = position_begin_[block]; slot < position_begin_[block + 1]; ++slot) {
      const uint32_t at = section_begin_[sections_[slot]] + position_[slot];
      section_blocks_[at] = block;
      section_slots_[at] = slot;
    }
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
  for (size_t s = 0; s < failures_.size(); ++s)
    old_failures_[s] += std::exchange(failures_[s], 0) - old_failures_[s] / 10;
}

void CanonicalState::LeaveSections(uint32_t block) {
  for (uint32_t slot = position_begin_[block]; slot < position_begin_[block + 1]; ++slot) {
    const uint32_t s = sections_[slot];
    const uint32_t own = section_begin_[s] + position_[slot];
    const uint32_t last = section_begin_[s] + --unplaced_in_[s];
    position_[section_slots_[last]] = std::exchange(position_[slot], unplaced_in_[s]);
    std::swap(section_blocks_[own], section_blocks_[last]);
    std::swap(section_slots_[own], section_slots_[last]);
    rest_[s] -= sizes_[block];
  }
}

void CanonicalState::MarkDirty(uint32_t block) {
  for (const uint32_t s : SectionsOf(block)) {
    if (!std::exchange(dirty_[s], 1)) dirty_list_.push_back(s);
  }
}

bool CanonicalState::RaiseBound(uint32_t block, Bytes bound) {
  const ArenaBlock& b = component_.blocks[block];
  bound = AlignUp(bound, b.alignment);
  if (bound <= bound_[block]) return true;
  bound_trail_.push_back({block, bound_[block]});
  bound_[block] = bound;
  MarkDirty(block);
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
  MarkDirty(block);
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
  for (; bound_trail_.size() > mark.bounds; bound_trail_.pop_back())
    bound_[bound_trail_.back().index] = bound_trail_.back().before;
  for (; floor_trail_.size() > mark.floors; floor_trail_.pop_back())
    floor_[floor_trail_.back().index] = floor_trail_.back().before;
}

void CanonicalState::UndoPlace(uint32_t block, const Mark& mark) {
  const ArenaBlock& b = component_.blocks[block];
  placed_[block] = 0;
  for (const uint32_t s : SectionsOf(block)) {
    rest_[s] += b.size;
    ++unplaced_in_[s];
  }
  for (int32_t s = b.life.lower + 1; s < b.life.upper; ++s) ++crossing_[Index(s)];
  for (; support_trail_.size() > mark.supports; support_trail_.pop_back())
    support_[support_trail_.back().index] = support_trail_.back().before;
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
    const bool lived = std::ranges::binary_search(SectionsOf(block), s);
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
