#include "tests/bench/plan_peers.h"

namespace graphkit {

std::vector<std::vector<uint32_t>> OverlapsOf(const LifetimeProblem& problem) {
  const std::vector<Lifetime>& lives = problem.lifetimes;
  const auto order =
      Sorted(lives.size(), [&](uint32_t a, uint32_t b) { return lives[a].begin < lives[b].begin; });
  std::vector<std::vector<uint32_t>> overlaps(lives.size());
  std::vector<uint32_t> live;
  for (const uint32_t block : order) {
    std::erase_if(live, [&](uint32_t other) { return lives[other].end <= lives[block].begin; });
    if (lives[block].empty()) continue;
    for (const uint32_t other : live) {
      overlaps[block].push_back(other);
      overlaps[other].push_back(block);
    }
    live.push_back(block);
  }
  return overlaps;
}

Bytes PeakOf(const PeerProblem& peer, const Offsets& offsets) {
  Bytes peak = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    peak = std::max(peak, offsets[i] + peer.problem.blocks[i].size);
  }
  return peak;
}

std::vector<Taken> TakenBy(const PeerProblem& peer, std::span<const uint32_t> others,
                           const Offsets& offsets) {
  std::vector<Taken> taken;
  for (const uint32_t other : others) {
    if (offsets[other] == kNotPlaced) continue;
    taken.push_back({offsets[other], offsets[other] + peer.problem.blocks[other].size});
  }
  std::ranges::sort(taken, {}, &Taken::begin);
  return taken;
}

Bytes BestGap(std::span<const Taken> taken, Bytes size) {
  Bytes bottom = 0;
  Bytes best = kNotPlaced;
  Bytes least = kNotPlaced;
  for (const Taken& range : taken) {
    if (range.begin >= bottom + size && range.begin - bottom < least) {
      best = bottom;
      least = range.begin - bottom;
    }
    bottom = std::max(bottom, range.end);
  }
  return best == kNotPlaced ? bottom : best;
}

Bytes FirstGap(std::span<const Taken> taken, Bytes size) {
  Bytes bottom = 0;
  for (const Taken& range : taken) {
    if (range.begin >= bottom + size) break;
    bottom = std::max(bottom, range.end);
  }
  return bottom;
}

}  // namespace graphkit
