// One legal order of many, which a device would hardly ever take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace graphkit {

// Of what can go on, some items, chosen at random, are held back as long
// as anything else can.
class UnlikelyOrder {
 public:
  explicit UnlikelyOrder(uint64_t seed)
      : random_(seed), last_first_(seed % 2 == 0), most_held_(1 + seed / 2 % 3) {}

  uint32_t Random(size_t below) { return static_cast<uint32_t>(random_() % below); }

  bool empty() const { return open_.empty() && held_.empty(); }
  // The item can go on. True: it is held back.
  bool Offer(uint32_t item) {
    const bool held = held_.size() < most_held_ && Random(4) == 0;
    (held ? held_ : open_).push_back(item);
    return held;
  }
  // Takes the next item; there is one.
  uint32_t Choose() {
    std::vector<uint32_t>& from = open_.empty() ? held_ : open_;
    const bool last = last_first_ && !open_.empty() && Random(8) != 0;
    const size_t at = last ? from.size() - 1 : Random(from.size());
    const uint32_t item = from[at];
    from[at] = from.back();
    from.pop_back();
    return item;
  }

 private:
  std::mt19937_64 random_;
  bool last_first_;
  size_t most_held_;
  std::vector<uint32_t> open_;
  std::vector<uint32_t> held_;
};

}  // namespace graphkit
