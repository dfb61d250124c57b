// TensorFlow Lite places tensors into the tightest gap between those that are placed and live at
// the same time: the largest first, or operator by operator, the one with most live bytes first.
#include "tests/bench/plan_peers.h"

namespace graphkit {
namespace {

void Put(const PeerProblem& peer, uint32_t block, Offsets* offsets) {
  const std::vector<Taken> taken = TakenBy(peer, peer.overlaps[block], *offsets);
  (*offsets)[block] = BestGap(taken, peer.problem.blocks[block].size);
}

}  // namespace

Offsets TfliteBySize(const PeerProblem& peer) {
  const std::vector<PlanBlock>& blocks = peer.problem.blocks;
  Offsets offsets(blocks.size(), kNotPlaced);
  const auto larger = [&](uint32_t a, uint32_t b) { return blocks[a].size > blocks[b].size; };
  for (const uint32_t block : Sorted(blocks.size(), larger)) Put(peer, block, &offsets);
  return offsets;
}

// An operator is a time at which a block is born: in between nothing but deaths happens.
Offsets TfliteByBreadth(const PeerProblem& peer) {
  const std::vector<PlanBlock>& blocks = peer.problem.blocks;
  const std::vector<Lifetime>& lives = peer.problem.lifetimes;
  std::vector<std::vector<uint32_t>> live(blocks.size());  // when each is born
  std::vector<Bytes> breadth(blocks.size());
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    live[block].push_back(block);
    for (const uint32_t other : peer.overlaps[block]) {
      if (lives[other].begin <= lives[block].begin) live[block].push_back(other);
    }
    for (const uint32_t other : live[block]) breadth[block] += blocks[other].size;
  }
  Offsets offsets(blocks.size(), kNotPlaced);
  const auto broader = [&](uint32_t a, uint32_t b) { return breadth[a] > breadth[b]; };
  for (const uint32_t op : Sorted(blocks.size(), broader)) {
    std::ranges::stable_sort(live[op], std::ranges::greater(),
                             [&](uint32_t block) { return blocks[block].size; });
    for (const uint32_t block : live[op]) {
      if (offsets[block] == kNotPlaced) Put(peer, block, &offsets);
    }
  }
  return offsets;
}

}  // namespace graphkit
