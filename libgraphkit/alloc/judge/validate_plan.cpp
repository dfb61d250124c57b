#include "libgraphkit/alloc/judge/validate_plan.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace graphkit {
namespace {

using ViolationKind = PlanViolation::Kind;

// A birth or a death; at equal times deaths come first.
struct Moment {
  int64_t time;
  bool birth;
  uint32_t block;
};

std::vector<Moment> MomentsOf(const LifetimeProblem& problem) {
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    if (problem.blocks[i].size == 0 || problem.lifetimes[i].empty()) continue;
    moments.push_back({problem.lifetimes[i].begin, true, i});
    moments.push_back({problem.lifetimes[i].end, false, i});
  }
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.time, a.birth, a.block) < std::tie(b.time, b.birth, b.block);
  });
  return moments;
}

// The live blocks by arena and offset. They are disjoint, so a block that is born overlaps one of
// them only if it overlaps one of its two neighbours.
class LiveMap {
 public:
  explicit LiveMap(const LifetimeProblem& problem, const Plan& plan)
      : problem_(problem), plan_(plan) {}

  void Birth(uint32_t block, std::vector<PlanViolation>* out) {
    const Place place = PlaceOf(block);
    auto after = live_.lower_bound(place);
    bool clean = true;
    if (after != live_.end() && Touches(block, after->second)) {
      out->push_back({ViolationKind::kOverlap, block, after->second});
      clean = false;
    }
    if (after != live_.begin() && Touches(block, std::prev(after)->second)) {
      out->push_back({ViolationKind::kOverlap, block, std::prev(after)->second});
      clean = false;
    }
    if (clean) live_.emplace(place, block);
  }

  void Death(uint32_t block) {
    const auto at = live_.find(PlaceOf(block));
    if (at != live_.end() && at->second == block) live_.erase(at);
  }

 private:
  using Place = std::pair<uint32_t, Bytes>;
  Place PlaceOf(uint32_t block) const {
    return {problem_.blocks[block].arena, plan_.offsets[block]};
  }
  bool Touches(uint32_t a, uint32_t b) const {
    if (problem_.blocks[a].arena != problem_.blocks[b].arena) return false;
    return plan_.offsets[a] < plan_.offsets[b] + problem_.blocks[b].size &&
           plan_.offsets[b] < plan_.offsets[a] + problem_.blocks[a].size;
  }

  const LifetimeProblem& problem_;
  const Plan& plan_;
  std::map<Place, uint32_t> live_;
};

void CheckPlaces(const LifetimeProblem& problem, const Plan& plan,
                 std::vector<PlanViolation>* out) {
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    const PlanBlock& block = problem.blocks[i];
    if (block.size == 0 || problem.lifetimes[i].empty()) continue;
    if (plan.offsets[i] % block.alignment != 0 && block.fixed == PlanBlock::kAnywhere) {
      out->push_back({ViolationKind::kMisaligned, i, 0});
    }
    if (block.fixed != PlanBlock::kAnywhere && plan.offsets[i] != block.fixed) {
      out->push_back({ViolationKind::kMoved, i, 0});
    }
  }
}

void CheckPeaks(const LifetimeProblem& problem, const Plan& plan, std::vector<PlanViolation>* out) {
  std::map<uint32_t, Bytes> tops;
  for (uint32_t i = 0; i < problem.blocks.size(); ++i) {
    Bytes& top = tops[problem.blocks[i].arena];
    if (problem.blocks[i].size == 0 || problem.lifetimes[i].empty()) continue;
    top = std::max(top, plan.offsets[i] + problem.blocks[i].size);
  }
  Bytes sum = 0;
  for (const ArenaPlan& arena : plan.arenas) {
    sum += arena.peak;
    const auto top = tops.find(arena.arena);
    if (top == tops.end() || top->second != arena.peak)
      out->push_back({ViolationKind::kWrongPeak, arena.arena, 0});
    if (top != tops.end()) tops.erase(top);
  }
  for (const auto& [arena, top] : tops) out->push_back({ViolationKind::kWrongPeak, arena, 0});
  if (sum != plan.peak) out->push_back({ViolationKind::kWrongPeak, 0, 0});
}

}  // namespace

std::vector<PlanViolation> ValidatePlan(const LifetimeProblem& problem, const Plan& plan) {
  std::vector<PlanViolation> violations;
  if (plan.offsets.size() != problem.blocks.size()) return {{ViolationKind::kMissing, 0, 0}};
  CheckPlaces(problem, plan, &violations);
  CheckPeaks(problem, plan, &violations);
  LiveMap live(problem, plan);
  for (const Moment& moment : MomentsOf(problem)) {
    if (moment.birth) {
      live.Birth(moment.block, &violations);
    } else {
      live.Death(moment.block);
    }
  }
  return violations;
}

std::string DescribeViolation(const PlanViolation& violation, const Plan& plan) {
  const std::string block = "block " + std::to_string(violation.block);
  switch (violation.kind) {
    case ViolationKind::kOverlap:
      return block + " overlaps block " + std::to_string(violation.other) + " at offset " +
             std::to_string(std::max(plan.offsets[violation.block], plan.offsets[violation.other]));
    case ViolationKind::kMisaligned:
      return block + " is misaligned at offset " + std::to_string(plan.offsets[violation.block]);
    case ViolationKind::kMoved:
      return block + " isn't at its fixed offset";
    case ViolationKind::kWrongPeak:
      return "the peak of arena " + std::to_string(violation.block) +
             " isn't what its blocks reach";
    case ViolationKind::kMissing:
      return "the plan is of another problem: the number of blocks differs";
  }
  return {};
}

}  // namespace graphkit
