// What waits for nodes to end, in heaps by chain, the node that comes first in it on top: as a
// point moves on, what it has reached is found without a look at what still waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/order/order.h"

namespace graphkit {

class ChainWaits {
 public:
  // `item` waits for the node at this place.
  void Wait(const ChainPlace& place, uint32_t item) {
    const auto at = std::ranges::find(heaps_, place.chain, &Heap::chain);
    Heap& heap = at != heaps_.end() ? *at : heaps_.emplace_back(Heap{place.chain, {}});
    heap.waiting.push_back({place.seq, item});
    std::push_heap(heap.waiting.begin(), heap.waiting.end());
  }

  // Calls `reached` for each item whose node ends before the point; it may let the item wait again,
  // for a node that doesn't.
  template <typename Reached>
  void Advance(const Order& order, const OrderPoint& point, const Reached& reached) {
    for (size_t i = 0; i < heaps_.size(); ++i) {
      if (heaps_[i].waiting.empty()) continue;
      const uint32_t count = order.CountAt(point, heaps_[i].chain);
      while (!heaps_[i].waiting.empty() && heaps_[i].waiting.front().place < count) {
        std::vector<Waiting>& waiting = heaps_[i].waiting;
        const uint32_t item = waiting.front().item;
        std::pop_heap(waiting.begin(), waiting.end());
        waiting.pop_back();
        reached(item);
      }
    }
    if (heaps_.size() <= kKept) return;
    std::erase_if(heaps_, [](const Heap& heap) { return heap.waiting.empty(); });
  }

 private:
  static constexpr size_t kKept = 16;  // more heaps are dropped when nothing waits in them

  struct Waiting {
    uint32_t place = 0;  // in the chain
    uint32_t item = 0;
    bool operator<(const Waiting& o) const { return place > o.place; }  // the lowest on top
  };
  struct Heap {
    uint32_t chain = 0;
    std::vector<Waiting> waiting;
  };

  std::vector<Heap> heaps_;
};

}  // namespace graphkit
