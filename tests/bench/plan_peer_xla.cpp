// XLA's heap simulator sorts buffers globally, by size or by length of life, and gives each the
// smallest free chunk that holds it; of the two orders it keeps the smaller heap.
#include <tuple>

#include "tests/bench/plan_peers.h"

namespace graphkit {
Offsets XlaBestFit(const PeerProblem& peer) {
  const auto size = [&](uint32_t block) { return peer.problem.blocks[block].size; };
  const auto length = [&](uint32_t block) {
    return peer.problem.lifetimes[block].end - peer.problem.lifetimes[block].begin;
  };
  const auto larger = [&](uint32_t a, uint32_t b) {
    return std::tuple(size(a), length(a)) > std::tuple(size(b), length(b));
  };
  const auto longer = [&](uint32_t a, uint32_t b) {
    return std::tuple(length(a), size(a)) > std::tuple(length(b), size(b));
  };
  const Offsets spatial = PlaceEach(peer, larger, BestGap);
  const Offsets temporal = PlaceEach(peer, longer, BestGap);
  return PeakOf(peer, spatial) <= PeakOf(peer, temporal) ? spatial : temporal;
}

}  // namespace graphkit
