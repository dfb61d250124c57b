#include "libgraphkit/alloc/plan/guided_ejection.h"

#include <bit>
#include <cmath>
#include <limits>

namespace graphkit {
namespace {

constexpr Bytes kNoLimit = kUnplaced / 2;
// How much chance there is in the choice of a place, in turn: now choosy, now bold.
constexpr std::array<double, 2> kNoise = {0.3, 2};
// A step aims at so much of what lies between the goal and the best plan; where that fails, the
// next one at the middle between that and the plan, up to kTimid. A gap of less than a kClose-th of
// the goal is to be closed at once.
constexpr double kBold = 0.7;
constexpr double kTimid = 0.98;
constexpr Bytes kClose = 2000;
constexpr int kBucketBits = 8;
constexpr uint32_t kBuckets = 1u << kBucketBits;
constexpr uint64_t kMovesPerCheck = 64;

}  // namespace

GuidedEjection::GuidedEjection(const ConflictLists& lists, std::vector<PlanBlock> blocks,
                               double exponent, uint64_t seed)
    : lists_(lists),
      blocks_(std::move(blocks)),
      random_(seed),
      share_(kBold),
      buckets_(kBuckets + 1) {
  for (const PlanBlock& block : blocks_) {
    sizes_.push_back(block.size);
    bases_.push_back(std::pow(static_cast<double>(block.size), exponent));
  }
  costs_ = bases_;
}

void GuidedEjection::Open(uint32_t item, std::vector<Bytes>* offsets) {
  (*offsets)[item] = kUnplaced;
  open_.push_back(item);
  std::ranges::push_heap(open_, {}, [&](uint32_t i) { return std::pair(sizes_[i], i); });
}

void GuidedEjection::TakeOut(Bytes target, std::vector<Bytes>* offsets) {
  open_.clear();
  for (uint32_t item = 0; item < sizes_.size(); ++item) {
    if (sizes_[item] == 0 || blocks_[item].fixed != PlanBlock::kAnywhere) continue;
    if ((*offsets)[item] + sizes_[item] > target) Open(item, offsets);
  }
}

// In buckets of offsets, each of which is sorted.
void GuidedEjection::FindTaken(uint32_t item, Bytes target, const std::vector<Bytes>& offsets) {
  unsorted_.clear();
  const std::span<const uint32_t> others = lists_.Of(item);
  looks_ += others.size() + 1;
  std::ranges::fill(buckets_, 0u);
  const int shift = std::max(0, static_cast<int>(std::bit_width(target)) - kBucketBits);
  const Bytes alignment = blocks_[item].alignment;
  const bool power_of_two = std::has_single_bit(alignment);  // division would take long
  const auto round_up = [&](Bytes end) {
    return power_of_two ? (end + alignment - 1) & ~(alignment - 1) : RoundUp(end, alignment);
  };
  const auto bucket = [&](Bytes begin) { return std::min<Bytes>(begin >> shift, kBuckets - 1); };
  for (const uint32_t other : others) {
    const Bytes begin = offsets[other];
    if (begin == kUnplaced || sizes_[other] == 0) continue;
    unsorted_.push_back({begin, round_up(begin + sizes_[other]), other});
    ++buckets_[bucket(begin) + 1];
  }
  for (uint32_t i = 0; i < kBuckets; ++i) buckets_[i + 1] += buckets_[i];
  taken_.resize(unsorted_.size());
  for (const Range& range : unsorted_) taken_[buckets_[bucket(range.begin)]++] = range;
  // Behind each bucket's last one is where it ends.
  for (uint32_t i = 0; i < kBuckets; ++i) {
    const uint32_t from = i == 0 ? 0 : buckets_[i - 1];
    std::ranges::sort(std::span(taken_).subspan(from, buckets_[i] - from), {}, &Range::begin);
  }
}

// The tightest gap.
bool GuidedEjection::FindGap(uint32_t item, Bytes target, Bytes* offset) const {
  const Bytes size = sizes_[item];
  Bytes bottom = 0;
  Bytes best_spare = kUnplaced;
  const auto close = [&](Bytes top) {
    if (top < bottom + size || top - bottom - size >= best_spare) return;
    best_spare = top - bottom - size;
    *offset = bottom;
  };
  for (const Range& range : taken_) {
    close(range.begin);
    bottom = std::max(bottom, range.end);
  }
  close(target);
  return best_spare != kUnplaced;
}

void GuidedEjection::SumUp() {
  begins_.clear();
  ends_.clear();
  for (const Range& range : taken_) {
    const uint32_t firm = blocks_[range.item].fixed != PlanBlock::kAnywhere ? 1 : 0;
    begins_.push_back({range.begin, costs_[range.item], firm});
    ends_.push_back({range.end, costs_[range.item], firm});
  }
  std::ranges::sort(ends_, {}, &Sum::place);
  for (std::vector<Sum>* sums : {&begins_, &ends_}) {
    for (size_t i = 1; i < sums->size(); ++i) {
      (*sums)[i].cost += (*sums)[i - 1].cost;
      (*sums)[i].firm += (*sums)[i - 1].firm;
    }
  }
}

// Where ejecting costs the least: on the ground, or on top of a range. What lies in [begin, end)
// begins before its end, without what ends up to its begin.
bool GuidedEjection::FindCheapest(uint32_t item, Bytes target, Bytes* offset) {
  const Bytes size = sizes_[item];
  SumUp();
  looks_ += 2 * taken_.size();
  const double noise = kNoise[attempt_ % kNoise.size()];
  double best = std::numeric_limits<double>::infinity();
  size_t begun = 0;
  for (size_t ended = 0; ended <= ends_.size(); ++ended) {
    const Sum out = ended == 0 ? Sum{} : ends_[ended - 1];
    if (out.place + size > target) break;
    while (begun < begins_.size() && begins_[begun].place < out.place + size) ++begun;
    const Sum in = begun == 0 ? Sum{} : begins_[begun - 1];
    if (in.firm != out.firm) continue;
    const double chance = static_cast<double>(random_.Below(256)) / 256;
    const double cost = (in.cost - out.cost) * (1 + noise * chance);
    if (cost >= best) continue;
    best = cost;
    *offset = out.place;
  }
  return best != std::numeric_limits<double>::infinity();
}

// False: it can't be placed, and is still the next one.
bool GuidedEjection::PlaceNext(Bytes target, std::vector<Bytes>* offsets) {
  const uint32_t item = open_.front();
  FindTaken(item, target, *offsets);
  Bytes offset = 0;
  const bool fits = FindGap(item, target, &offset);
  if (!fits && !FindCheapest(item, target, &offset)) return false;
  std::ranges::pop_heap(open_, {}, [&](uint32_t i) { return std::pair(sizes_[i], i); });
  open_.pop_back();
  if (!fits) {
    costs_[item] += bases_[item];
    for (const Range& range : taken_) {
      if (range.begin < offset + sizes_[item] && range.end > offset) Open(range.item, offsets);
    }
  }
  (*offsets)[item] = offset;
  return true;
}

Bytes GuidedEjection::Peak(const std::vector<Bytes>& offsets) const {
  Bytes peak = 0;
  for (uint32_t item = 0; item < sizes_.size(); ++item) {
    if (sizes_[item] != 0) peak = std::max(peak, offsets[item] + sizes_[item]);
  }
  return peak;
}

Bytes GuidedEjection::Lower(Bytes target, uint64_t max_looks, const std::function<bool()>& more,
                            std::vector<Bytes>* offsets) {
  const uint64_t end = looks_ + max_looks;
  ++attempt_;
  TakeOut(target, offsets);
  for (uint64_t move = 0; !open_.empty() && looks_ < end; ++move) {
    if (move % kMovesPerCheck == 0 && !more()) break;
    if (!PlaceNext(target, offsets)) break;
  }
  while (!open_.empty()) PlaceNext(kNoLimit, offsets);
  return Peak(*offsets);
}

bool GuidedEjection::Step(Bytes goal, uint64_t max_looks, const std::function<bool()>& more,
                          GreedyPlan* plan) {
  const Bytes gap = plan->peak - goal;
  const auto aim = static_cast<Bytes>(share_ * static_cast<double>(gap));
  const Bytes target = goal + (gap < goal / kClose ? 0 : aim);
  std::vector<Bytes> offsets = plan->offsets;
  const Bytes reached = Lower(target, max_looks, more, &offsets);
  share_ = reached <= target || share_ > kTimid ? kBold : (1 + share_) / 2;
  if (reached >= plan->peak) return false;
  *plan = {std::move(offsets), reached};
  return true;
}

}  // namespace graphkit
