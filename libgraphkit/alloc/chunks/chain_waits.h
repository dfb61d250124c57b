// Items that wait for nodes to end, in heaps by chain, the node that comes first in it on top: as a
// point moves on, what it has reached is found without a look at what still waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/order/order.h"

namespace graphkit {

class ChainWaits {
 public:
  // `item` waits for the node at this place.
  void Wait(const ChainPlace& place, uint32_t item) {
    Heap* heap = Find(place.chain);
    if (heap == nullptr) {
      numbers_.emplace(place.chain, heaps_.size());
      heap = &heaps_.emplace_back(Heap{place.chain, {}});
    }
    heap->waiting.push_back({place.seq, item});
    std::push_heap(heap->waiting.begin(), heap->waiting.end());
  }

  // Calls `reached` for each item whose node ends before the point; it may let the item wait again,
  // for a node that doesn't. `before`: the point of the last call.
  template <typename Reached>
  void Advance(const Order& order, const OrderPoint& before, const OrderPoint& point,
               const Reached& reached) {
    if (before.chain == point.chain && before.row == point.row) {
      if (const Heap* heap = Find(point.chain)) Take(NumberOf(*heap), point.count, reached);
      return;
    }
    size_t empty = 0;
    for (size_t i = 0; i < heaps_.size(); ++i) {
      if (!heaps_[i].waiting.empty()) Take(i, order.CountAt(point, heaps_[i].chain), reached);
      if (heaps_[i].waiting.empty()) ++empty;
    }
    if (heaps_.size() > kFew && empty > heaps_.size() / 2) DropEmpty();
  }

 private:
  static constexpr size_t kFew = 16;  // of these none is dropped, and each is looked at

  struct Waiting {
    uint32_t place = 0;  // in the chain
    uint32_t item = 0;
    bool operator<(const Waiting& o) const { return place > o.place; }  // the lowest on top
  };
  struct Heap {
    uint32_t chain = 0;
    std::vector<Waiting> waiting;
  };

  size_t NumberOf(const Heap& heap) const { return static_cast<size_t>(&heap - heaps_.data()); }

  Heap* Find(uint32_t chain) {
    if (heaps_.size() <= kFew) {
      const auto at = std::ranges::find(heaps_, chain, &Heap::chain);
      return at != heaps_.end() ? &*at : nullptr;
    }
    const auto at = numbers_.find(chain);
    return at != numbers_.end() ? &heaps_[at->second] : nullptr;
  }

  // Those of the chain's first `count` nodes.
  template <typename Reached>
  void Take(size_t number, uint32_t count, const Reached& reached) {
    while (!heaps_[number].waiting.empty() && heaps_[number].waiting.front().place < count) {
      std::vector<Waiting>& waiting = heaps_[number].waiting;
      const uint32_t item = waiting.front().item;
      std::pop_heap(waiting.begin(), waiting.end());
      waiting.pop_back();
      reached(item);
    }
  }

  void DropEmpty() {
    std::erase_if(heaps_, [](const Heap& heap) { return heap.waiting.empty(); });
    numbers_.clear();
    for (const Heap& heap : heaps_) numbers_.emplace(heap.chain, NumberOf(heap));
  }

  std::vector<Heap> heaps_;
  std::unordered_map<uint32_t, size_t> numbers_;  // of heaps, by chain
};

// Someone who only moves on, and a list of things that wait for nodes until they are found there.
struct OrderedView {
  OrderPoint point = {};             // where it stands
  size_t seen = 0;                   // of the list
  ChainWaits waits = {};             // those that it has seen and isn't behind
  std::vector<uint32_t> again = {};  // the same, where no single node says when it will be

  // Looks at those that it may be behind by now, and at those behind the ones seen, up to `size`.
  // `look` finds the thing, or lets it wait again.
  template <typename Look>
  void MoveTo(const Order& order, const OrderPoint& to, size_t size, const Look& look) {
    if (!(point == to)) {
      const OrderPoint before = std::exchange(point, to);
      waits.Advance(order, before, to, look);
      for (const uint32_t item : std::exchange(again, {})) look(item);
    }
    while (seen < size) look(static_cast<uint32_t>(seen++));
  }
};

}  // namespace graphkit
