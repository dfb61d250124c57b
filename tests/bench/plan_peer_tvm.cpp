// TVM's unified static memory planner. Its two greedy algorithms put a buffer above all that it
// conflicts with; hill climbing places by first fit again and again, with two neighbours of what
// lies highest swapped in the order.
#include <tuple>
#include <utility>

#include "libgraphkit/random.h"
#include "tests/bench/plan_peers.h"

namespace graphkit {
namespace {

template <typename Before>
Offsets PutOnTop(const PeerProblem& peer, const Before& before) {
  Offsets offsets(peer.problem.blocks.size(), kNotPlaced);
  for (const uint32_t block : Sorted(offsets.size(), before)) {
    Bytes offset = 0;
    for (const uint32_t other : peer.overlaps[block]) {
      if (offsets[other] == kNotPlaced) continue;
      offset = std::max(offset, offsets[other] + peer.problem.blocks[other].size);
    }
    offsets[block] = offset;
  }
  return offsets;
}

auto SizeOf(const PeerProblem& peer) {
  return [&peer](uint32_t block) {
    return std::tuple(peer.problem.blocks[block].size, peer.overlaps[block].size());
  };
}

class HillClimb {
 public:
  explicit HillClimb(const PeerProblem& peer) : peer_(peer), at_(peer.problem.blocks.size()) {
    const auto key = SizeOf(peer);
    order_ = Sorted(at_.size(), [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
    for (uint32_t i = 0; i < order_.size(); ++i) at_[order_[i]] = i;
  }

  Offsets Run() {
    constexpr uint64_t kAttempts = 500;
    Offsets current;
    std::pair<uint32_t, uint32_t> swapped;
    for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      Offsets offsets = Place();
      const Bytes peak = PeakOf(peer_, offsets);
      if (attempt == 0 || peak < peak_ || Accepts(peak, attempt)) {
        best_ = current = std::move(offsets);
        peak_ = peak;
      } else {
        Swap(swapped.first, swapped.second);
      }
      swapped = Choose(current);
      Swap(swapped.first, swapped.second);
    }
    return best_;
  }

 private:
  Offsets Place() const {
    Offsets offsets(order_.size(), kNotPlaced);
    for (const uint32_t block : order_) {
      const std::vector<Taken> taken = TakenBy(peer_, peer_.overlaps[block], offsets);
      offsets[block] = FirstGap(taken, peer_.problem.blocks[block].size);
    }
    return offsets;
  }

  bool Accepts(Bytes peak, uint64_t attempt) {
    return random_.Below(100) < 50 * (peak - peak_) / peak / attempt;
  }

  void Swap(uint32_t a, uint32_t b) {
    std::swap(order_[at_[a]], order_[at_[b]]);
    std::swap(at_[a], at_[b]);
  }

  uint32_t Any(const std::vector<uint32_t>& blocks) { return blocks[random_.Below(blocks.size())]; }

  // Neighbours of one of the highest blocks, and theirs, that come earlier in the order.
  std::pair<uint32_t, uint32_t> Choose(const Offsets& offsets) {
    std::vector<uint32_t> highest;
    for (uint32_t block = 0; block < offsets.size(); ++block) {
      if (offsets[block] + peer_.problem.blocks[block].size == peak_) highest.push_back(block);
    }
    const uint32_t top = Any(highest);
    std::vector<uint32_t> first;
    std::vector<uint32_t> second;
    for (const uint32_t one : peer_.overlaps[top]) {
      if (at_[one] < at_[top]) first.push_back(one);
      for (const uint32_t two : peer_.overlaps[one]) {
        if (at_[two] < at_[one]) second.push_back(two);
      }
    }
    if (first.empty()) return {top, top};
    const uint32_t chosen = Any(first);
    return {chosen, !second.empty() && random_.Below(100) > 25 ? Any(second) : Any(first)};
  }

  const PeerProblem& peer_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> at_;  // by block: its place in the order
  Random random_{0};
  Offsets best_;
  Bytes peak_ = 0;
};

}  // namespace

Offsets TvmBySize(const PeerProblem& peer) {
  const auto key = SizeOf(peer);
  return PutOnTop(peer, [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
}

Offsets TvmByConflicts(const PeerProblem& peer) {
  const auto key = [&](uint32_t block) {
    return std::tuple(peer.overlaps[block].size(), peer.problem.blocks[block].size);
  };
  return PutOnTop(peer, [&](uint32_t a, uint32_t b) { return key(a) > key(b); });
}

Offsets TvmHillClimb(const PeerProblem& peer) { return HillClimb(peer).Run(); }

}  // namespace graphkit
