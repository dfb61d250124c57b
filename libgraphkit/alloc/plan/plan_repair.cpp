#include "libgraphkit/alloc/plan/plan_repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {
namespace {

// Blocks that may be displaced for one that is too high.
constexpr size_t kMaxMoves = 1000;
// How much chance there is in the choice, in turn.
constexpr std::array<double, 4> kChoiceNoise = {0.2, 1, 4, 16};

}  // namespace

PlanRepair::PlanRepair(const Lanes& lanes, const ConflictLists& lists, std::span<const Bytes> fixed,
                       Bytes alignment, uint64_t seed)
    : lanes_(lanes),
      lists_(lists),
      fixed_(fixed),
      alignment_(alignment),
      random_(seed),
      forced_(lanes.size()) {}

void PlanRepair::FindTaken(uint32_t item, const std::vector<Bytes>& offsets) {
  taken_.clear();
  const std::span<const uint32_t> others = lists_.Of(item);
  looks_ += others.size() + 1;
  for (const uint32_t other : others) {
    const Bytes offset = offsets[other];
    if (offset == kUnplaced || lanes_.weight(other) == 0) continue;
    taken_.push_back({offset, offset + lanes_.weight(other), other});
  }
  std::ranges::sort(taken_, {}, &Range::begin);
}

// The tightest gap below the peak.
bool PlanRepair::FindGap(uint32_t item, Bytes peak, Bytes* offset) const {
  const Bytes size = lanes_.weight(item);
  Bytes bottom = 0;
  Bytes best_spare = kUnplaced;
  const auto close = [&](Bytes top) {
    if (top < bottom + size || top - bottom - size >= best_spare) return;
    best_spare = top - bottom - size;
    *offset = bottom;
  };
  for (const Range& range : taken_) {
    close(range.begin);
    bottom = std::max(bottom, RoundUp(range.end, alignment_));
  }
  // All must end below the peak.
  close(peak - 1);
  return best_spare != kUnplaced;
}

// A large block costs more than small ones of as many bytes, which are placed again more easily.
void PlanRepair::SumUp() {
  begins_.clear();
  ends_.clear();
  for (const Range& range : taken_) {
    const bool firm = forced_[range.item] == attempt_ || fixed_[range.item] != PlanBlock::kAnywhere;
    const auto size = static_cast<double>(range.end - range.begin);
    begins_.push_back({range.begin, size * std::sqrt(size), firm ? 1u : 0u});
    ends_.push_back({range.end, begins_.back().cost, begins_.back().firm});
  }
  std::ranges::sort(ends_, {}, &Sum::place);
  for (std::vector<Sum>* sums : {&begins_, &ends_}) {
    for (size_t i = 1; i < sums->size(); ++i) {
      (*sums)[i].cost += (*sums)[i - 1].cost;
      (*sums)[i].firm += (*sums)[i - 1].firm;
    }
  }
}

// Where displacing costs the least: at 0, or where a range begins or ends. What lies in [begin,
// end) begins before its end, without what ends up to its begin.
bool PlanRepair::FindVictims(uint32_t item, Bytes peak, Bytes* offset) {
  const Bytes size = lanes_.weight(item);
  SumUp();
  looks_ += 2 * taken_.size();
  const double noise = kChoiceNoise[attempt_ % kChoiceNoise.size()] / 256;  // now choosy, now bold
  double best = std::numeric_limits<double>::infinity();
  const auto go_along = [&](const std::vector<Sum>& places, bool from_zero) {
    size_t begun = 0;
    size_t ended = 0;
    for (size_t i = 0; i < places.size() + (from_zero ? 1 : 0); ++i) {
      const Bytes place = from_zero ? (i == 0 ? 0 : places[i - 1].place) : places[i].place;
      const Bytes begin = RoundUp(place, alignment_);
      if (begin + size >= peak) break;
      while (begun < begins_.size() && begins_[begun].place < begin + size) ++begun;
      while (ended < ends_.size() && ends_[ended].place <= begin) ++ended;
      const Sum in = begun == 0 ? Sum{} : begins_[begun - 1];
      const Sum out = ended == 0 ? Sum{} : ends_[ended - 1];
      if (in.firm != out.firm) continue;
      const double chance = static_cast<double>(random_.Below(256));
      const double cost = (in.cost - out.cost) * (1 + noise * chance);
      if (cost >= best) continue;
      best = cost;
      *offset = begin;
    }
  };
  go_along(begins_, true);
  go_along(ends_, false);
  return best != std::numeric_limits<double>::infinity();
}

void PlanRepair::Move(uint32_t item, Bytes offset, std::vector<Bytes>* offsets) {
  moved_.emplace_back(item, (*offsets)[item]);
  (*offsets)[item] = offset;
}

bool PlanRepair::Lower(uint32_t item, Bytes peak, std::vector<Bytes>* offsets) {
  ++attempt_;
  moved_.clear();
  open_.clear();
  Move(item, kUnplaced, offsets);
  open_.push_back(item);
  while (!open_.empty() && moved_.size() < kMaxMoves) {
    const auto largest =
        std::ranges::max_element(open_, {}, [&](uint32_t other) { return lanes_.weight(other); });
    const uint32_t next = *largest;
    *largest = open_.back();
    open_.pop_back();
    FindTaken(next, *offsets);
    Bytes offset = 0;
    if (!FindGap(next, peak, &offset)) {
      if (!FindVictims(next, peak, &offset)) {
        open_.push_back(next);
        break;
      }
      forced_[next] = attempt_;
      for (const Range& range : taken_) {
        if (range.begin >= offset + lanes_.weight(next) || range.end <= offset) continue;
        Move(range.item, kUnplaced, offsets);
        open_.push_back(range.item);
      }
    }
    Move(next, offset, offsets);
  }
  if (open_.empty()) return true;
  for (auto move = moved_.rbegin(); move != moved_.rend(); ++move) {
    (*offsets)[move->first] = move->second;
  }
  return false;
}

}  // namespace graphkit
