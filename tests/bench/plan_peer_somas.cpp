// MindSpore's SOMAS goes by the order of the graph: blocks by size, each into the tightest or the
// lowest gap; in one arena, or in shelves one above the other, each as high as its first block,
// that a block which conflicts with the first one doesn't go to. All combinations are tried. The
// original keeps conflicts in a bit for each pair; here they are lists.
#include <tuple>

#include "tests/bench/plan_peers.h"

namespace graphkit {
namespace {

struct Way {
  bool shelves;
  bool tightest;
  bool latest;  // of blocks of one size first
};

class SomasPlan {
 public:
  SomasPlan(const PeerProblem& peer, const Way& way)
      : peer_(peer), way_(way), offsets_(peer.problem.blocks.size(), kNotPlaced) {
    const auto key = [&](uint32_t block) {
      return std::tuple(peer.problem.blocks[block].size, way.latest ? block : ~block);
    };
    for (const uint32_t block :
         Sorted(offsets_.size(), [&](uint32_t a, uint32_t b) { return key(a) > key(b); })) {
      offsets_[block] = way.shelves ? OnShelf(block) : InArena(block);
    }
  }

  const Offsets& offsets() const { return offsets_; }

 private:
  struct Shelf {
    Bytes begin;
    Bytes end;
    uint32_t first;
  };

  Bytes InArena(uint32_t block) const {
    const std::vector<Taken> taken = TakenBy(peer_, peer_.conflicts[block], offsets_);
    const Bytes size = peer_.problem.blocks[block].size;
    return way_.tightest ? BestGap(taken, size) : FirstGap(taken, size);
  }

  Bytes OnShelf(uint32_t block) {
    const std::vector<Taken> taken = TakenBy(peer_, peer_.conflicts[block], offsets_);
    const Bytes size = peer_.problem.blocks[block].size;
    const std::vector<uint32_t>& others = peer_.conflicts[block];
    auto at = taken.begin();
    for (const Shelf& shelf : shelves_) {
      std::vector<Taken> here;
      for (; at != taken.end() && at->begin < shelf.end; ++at) {
        here.push_back({at->begin - shelf.begin, at->end - shelf.begin});
      }
      if (!here.empty() && here.front().begin == 0 && FirstConflicts(shelf, others)) continue;
      here.push_back({shelf.end - shelf.begin, kNotPlaced});
      const Bytes offset = way_.tightest ? BestGap(here, size) : FirstGap(here, size);
      if (offset != kNotPlaced) return shelf.begin + offset;
    }
    const Bytes begin = shelves_.empty() ? 0 : shelves_.back().end;
    shelves_.push_back({begin, begin + size, block});
    return begin;
  }

  static bool FirstConflicts(const Shelf& shelf, const std::vector<uint32_t>& others) {
    return std::ranges::find(others, shelf.first) != others.end();
  }

  const PeerProblem& peer_;
  Way way_;
  Offsets offsets_;
  std::vector<Shelf> shelves_;
};

}  // namespace

Offsets Somas(const PeerProblem& peer) {
  Offsets best;
  for (uint32_t bits = 0; bits < 8; ++bits) {
    const SomasPlan plan(peer, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
    if (best.empty() || PeakOf(peer, plan.offsets()) < PeakOf(peer, best)) best = plan.offsets();
  }
  return best;
}

}  // namespace graphkit
