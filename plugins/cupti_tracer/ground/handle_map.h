// From CUDA's handles to what is known about them: open addressing, linear probing, no allocation
// but when it grows or shrinks, and no tombstones, so that handles may come and go for ever.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace graphkit {

// Keys are non-zero. Pointers to values are valid until the next Insert or Erase.
template <typename Value>
class HandleMap {
 public:
  Value* Find(uint64_t key) { return const_cast<Value*>(std::as_const(*this).Find(key)); }
  const Value* Find(uint64_t key) const {
    size_t i = SlotOf(key);
    return i == kNowhere ? nullptr : &slots_[i].value;
  }

  // Sets the value of a key, known or not.
  Value& Insert(uint64_t key, Value value) {
    if ((size_ + 1) * 8 > slots_.size() * 5) Resize(std::max(kFewest, slots_.size() * 2));
    size_t i = Home(key);
    while (slots_[i].key != 0 && slots_[i].key != key) i = Next(i);
    if (slots_[i].key == 0) ++size_;
    slots_[i] = {key, std::move(value)};
    return slots_[i].value;
  }

  bool Erase(uint64_t key) {
    size_t hole = SlotOf(key);
    if (hole == kNowhere) return false;
    // Closes the hole with those that had probed across it.
    for (size_t i = Next(hole); slots_[i].key != 0; i = Next(i)) {
      size_t home = Home(slots_[i].key);
      bool stays = hole <= i ? (hole < home && home <= i) : (hole < home || home <= i);
      if (stays) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = {};
    --size_;
    if (slots_.size() > kFewest && size_ * 16 < slots_.size()) Resize(slots_.size() / 4);
    return true;
  }

  void Clear() {
    slots_.clear();
    size_ = 0;
  }
  size_t size() const { return size_; }
  size_t capacity() const { return slots_.size(); }

  template <typename Function>
  void ForEach(Function function) const {
    for (const Slot& slot : slots_) {
      if (slot.key != 0) function(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Value value{};
  };

  static constexpr size_t kNowhere = ~size_t{0}, kFewest = 16;

  size_t SlotOf(uint64_t key) const {
    if (key == 0 || slots_.empty()) return kNowhere;
    for (size_t i = Home(key);; i = Next(i)) {
      if (slots_[i].key == key) return i;
      if (slots_[i].key == 0) return kNowhere;
    }
  }
  size_t Home(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> shift_);
  }
  size_t Next(size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void Resize(size_t slots) {
    std::vector<Slot> old = std::move(slots_);
    slots_ = std::vector<Slot>(slots);
    shift_ = 64;
    for (size_t n = slots_.size(); n > 1; n /= 2) --shift_;
    size_ = 0;
    for (Slot& slot : old) {
      if (slot.key != 0) Insert(slot.key, std::move(slot.value));
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
  unsigned shift_ = 64;
};

}  // namespace graphkit
