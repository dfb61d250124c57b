// XLA's heap simulator sorts buffers globally, by size or by length of life, and gives each the
// smallest free chunk that holds it; of the two orders it keeps the smaller heap.
#include <tuple>

#include "tests/bench/plan_peers.h"

namespace graphkit {
namespace {

template <typename Before>
Offsets Place(const PeerProblem& peer, const Before& before) {
  Offsets offsets(peer.problem.blocks.size(), kNotPlaced);
  for (const uint32_t block : Sorted(offsets.size(), before)) {
    const std::vector<Taken> taken = TakenBy(peer, peer.overlaps[block], offsets);
    offsets[block] = BestGap(taken, peer.problem.blocks[block].size);
  }
  return offsets;
}

}  // namespace

Offsets XlaBestFit(const PeerProblem& peer) {
  const auto size = [&](uint32_t block) { return peer.problem.blocks[block].size; };
  const auto length = [&](uint32_t block) {
    return peer.problem.lifetimes[block].end - peer.problem.lifetimes[block].begin;
  };
  const Offsets spatial = Place(peer, [&](uint32_t a, uint32_t b) {
    return std::tuple(size(a), length(a)) > std::tuple(size(b), length(b));
  });
  const Offsets temporal = Place(peer, [&](uint32_t a, uint32_t b) {
    return std::tuple(length(a), size(a)) > std::tuple(length(b), size(b));
  });
  return PeakOf(peer, spatial) <= PeakOf(peer, temporal) ? spatial : temporal;
}

}  // namespace graphkit
