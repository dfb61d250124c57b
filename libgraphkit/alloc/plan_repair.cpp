#include "libgraphkit/alloc/plan_repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {
namespace {

constexpr Bytes kUnplaced = ~Bytes{0};
// Blocks that may be displaced for one that is too high.
constexpr size_t kMaxMoves = 1000;
// Places that are considered for each.
constexpr size_t kMaxPlaces = 400;
// How much chance there is in the choice, in turn.
constexpr std::array<double, 4> kNoise = {0.2, 1, 4, 16};

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

// What displacing all in [begin, end) costs: more for a large block than for small ones of as many
// bytes, which are placed again more easily. Infinite when one may not be moved.
double PlanRepair::Cost(Bytes begin, Bytes end) {
  double cost = 0;
  for (const Range& range : taken_) {
    if (range.begin >= end) break;
    if (range.end <= begin) continue;
    if (forced_[range.item] == attempt_ || fixed_[range.item] != PlanBlock::kAnywhere) {
      return std::numeric_limits<double>::infinity();
    }
    const auto size = static_cast<double>(range.end - range.begin);
    cost += size * std::sqrt(size);
  }
  // Now choosy, now bold.
  const double noise =
      static_cast<double>(random_.Below(256)) / 256 * kNoise[attempt_ % kNoise.size()];
  return cost * (1 + noise);
}

bool PlanRepair::FindVictims(uint32_t item, Bytes peak, Bytes* offset) {
  const Bytes size = lanes_.weight(item);
  double best = std::numeric_limits<double>::infinity();
  const auto consider = [&](Bytes begin) {
    if (begin + size >= peak) return;
    const double cost = Cost(begin, begin + size);
    if (cost >= best) return;
    best = cost;
    *offset = begin;
  };
  consider(0);
  const size_t every = taken_.size() / kMaxPlaces + 1;
  for (size_t i = random_.Below(every); i < taken_.size(); i += every) {
    const Range& range = taken_[i];
    looks_ += taken_.size() / 4;
    consider(RoundUp(range.end, alignment_));
    consider(RoundUp(range.begin, alignment_));
  }
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
