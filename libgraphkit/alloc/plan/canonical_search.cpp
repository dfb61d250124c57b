#include "libgraphkit/alloc/plan/canonical_search.h"

namespace graphkit {
namespace {

// How many times its width a block may gain by lying in the section that failed most.
constexpr double kBlame = 4;

// So much chance is in the choice among blocks that were tried.
constexpr double kChance = 0.25;
constexpr double kNoPlanLeft = -1;

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
  const auto most_in = [](const auto& by_section, RankLifetime life) {
    return *std::max_element(by_section.begin() + life.lower, by_section.begin() + life.upper);
  };
  const std::vector<uint64_t>& failures = state_.failures();
  const uint64_t most = *std::ranges::max_element(failures);
  std::vector<std::pair<std::array<Bytes, 3>, uint32_t>> keyed;
  for (uint32_t i = 0; i < component_.blocks.size(); ++i) {
    const ArenaBlock& b = component_.blocks[i];
    Bytes width = disturbed(b.length);
    if (most != 0) {
      const double share =
          static_cast<double>(most_in(failures, b.life)) / static_cast<double>(most);
      width += static_cast<Bytes>(kBlame * share * static_cast<double>(width));
    }
    const Bytes area = disturbed(width * b.size);
    const Bytes load = most_in(component_.loads, b.life);
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
    for (int32_t s = std::max(life.lower, part.lower + 1); s < life.upper && !cut; ++s) {
      cut = state_.CutBefore(s);
    }
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

}  // namespace graphkit
