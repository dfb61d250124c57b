// An ordered set of small keys in flat memory: a sorted list of sorted chunks. Finding is two
// binary searches, inserting and erasing move at most one chunk's keys.
//
//   last keys   [   9   |   31   |   70   ]        one per chunk, in order
//   chunks      [2 5 9] [12 20 31] [44 70]
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphkit {

// Key: trivially copyable, with operator<. No two keys are equal.
template <typename Key>
class SortedChunks {
 public:
  // A place in the set. Any change of the set makes it invalid.
  struct Place {
    uint32_t chunk = 0;  // place in order
    uint32_t at = 0;
    bool operator==(const Place&) const = default;
  };

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  Place begin() const { return {}; }
  Place end() const { return {static_cast<uint32_t>(order_.size()), 0}; }
  const Key& operator[](Place p) const { return chunks_[order_[p.chunk]].keys[p.at]; }

  Place next(Place p) const {
    if (++p.at < chunks_[order_[p.chunk]].size) return p;
    return {p.chunk + 1, 0};
  }
  // Not for begin().
  Place previous(Place p) const {
    if (p.at > 0) return {p.chunk, p.at - 1};
    return {p.chunk - 1, chunks_[order_[p.chunk - 1]].size - 1};
  }

  // The first key that isn't less.
  Place LowerBound(const Key& key) const {
    const auto chunk =
        static_cast<uint32_t>(std::lower_bound(last_.begin(), last_.end(), key) - last_.begin());
    if (chunk == order_.size()) return end();
    const Chunk& c = chunks_[order_[chunk]];
    const Key* at = std::lower_bound(c.keys.data(), c.keys.data() + c.size, key);
    return {chunk, static_cast<uint32_t>(at - c.keys.data())};
  }

  void Insert(const Key& key) {
    if (order_.empty()) AddChunk(0, key);
    Place p = LowerBound(key);
    if (p.chunk == order_.size()) p = {p.chunk - 1, chunks_[order_.back()].size};
    if (chunks_[order_[p.chunk]].size == kChunk) p = Split(p);
    Chunk& c = chunks_[order_[p.chunk]];
    std::copy_backward(c.keys.data() + p.at, c.keys.data() + c.size, c.keys.data() + c.size + 1);
    c.keys[p.at] = key;
    ++c.size;
    last_[p.chunk] = c.keys[c.size - 1];
    ++size_;
  }

  void EraseAt(Place p) {
    Chunk& c = chunks_[order_[p.chunk]];
    std::copy(c.keys.data() + p.at + 1, c.keys.data() + c.size, c.keys.data() + p.at);
    --size_;
    if (--c.size == 0) {
      spare_.push_back(order_[p.chunk]);
      order_.erase(order_.begin() + p.chunk);
      last_.erase(last_.begin() + p.chunk);
    } else {
      last_[p.chunk] = c.keys[c.size - 1];
    }
  }

  // The key must be there.
  void Erase(const Key& key) { EraseAt(LowerBound(key)); }

 private:
  static constexpr uint32_t kChunk = 64;
  struct Chunk {
    uint32_t size = 0;
    std::array<Key, kChunk> keys;
  };

  void AddChunk(uint32_t place, const Key& last) {
    uint32_t chunk;
    if (spare_.empty()) {
      chunk = static_cast<uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      chunk = spare_.back();
      spare_.pop_back();
      chunks_[chunk].size = 0;
    }
    order_.insert(order_.begin() + place, chunk);
    last_.insert(last_.begin() + place, last);
  }

  // Halves a full chunk; returns where p's place went.
  Place Split(Place p) {
    AddChunk(p.chunk + 1, last_[p.chunk]);
    Chunk& low = chunks_[order_[p.chunk]];
    Chunk& high = chunks_[order_[p.chunk + 1]];
    constexpr uint32_t kHalf = kChunk / 2;
    std::copy(low.keys.data() + kHalf, low.keys.data() + kChunk, high.keys.data());
    low.size = kHalf;
    high.size = kChunk - kHalf;
    last_[p.chunk] = low.keys[kHalf - 1];
    return p.at <= kHalf ? p : Place{p.chunk + 1, p.at - kHalf};
  }

  std::vector<Chunk> chunks_;
  std::vector<uint32_t> order_;  // chunks by key
  std::vector<Key> last_;        // last_[i]: the last key of chunks_[order_[i]]
  std::vector<uint32_t> spare_;
  size_t size_ = 0;
};

}  // namespace graphkit
