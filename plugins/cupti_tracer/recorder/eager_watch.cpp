#include "plugins/cupti_tracer/recorder/eager_watch.h"

#include <algorithm>
#include <cstring>

namespace graphkit {

bool EagerWatch::MayHold(const Operation& operation) const {
  for (uint32_t i = 0; i < operation.touch_count; ++i) {
    const TouchedMemory& touch = operation.touches[i];
    if (MayHold(touch.address, touch.length > 0 ? static_cast<Bytes>(touch.length) : 1))
      return true;
  }
  return false;
}

bool EagerWatch::MayHold(Address address, Bytes bytes) const {
  const auto meets = [&](Address begin, Bytes size) {
    return address < begin ? begin - address < bytes : address - begin < size;
  };
  if (!meets(lowest_.load(std::memory_order_relaxed), extent_.load(std::memory_order_relaxed)))
    return false;
  const uint32_t count = count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (meets(begins_[i].load(std::memory_order_relaxed),
              sizes_[i].load(std::memory_order_relaxed)))
      return true;
  }
  return false;
}

bool EagerWatch::MayHold(const KernelWork& launch, const KernelInfo& kernel) const {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const char* bytes = ArgumentOf(launch, kernel.params[i], i);
    if (bytes == nullptr) continue;
    const KernelParam param = ParamOf(kernel, launch, i);
    if (param.size >= kTensorMapBytes && tensor_maps_.load(std::memory_order_relaxed)) return true;
    for (size_t at = FirstWord(param); at + kWord <= param.size; at += kWord) {
      uint64_t word;
      std::memcpy(&word, bytes + at, kWord);
      if (MayHold(word)) return true;
    }
  }
  return false;
}

void EagerWatch::SetCapturing(bool capturing) {
  const uint32_t state = state_.load(std::memory_order_relaxed);
  const uint32_t now = capturing ? state | kCapturing : state & ~kCapturing;
  if (now != state) state_.store(now, std::memory_order_relaxed);
}

void EagerWatch::SetRange(uint32_t at, Address begin, Address end) {
  begins_[at].store(begin, std::memory_order_relaxed);
  sizes_[at].store(end - begin, std::memory_order_relaxed);
}

// Into the range that grows the least by it, unless there is room for one more.
void EagerWatch::Add(Address address, Bytes size) {
  const Address end = address + size;
  const uint32_t count = count_.load(std::memory_order_relaxed);
  uint32_t nearest = count;
  Bytes least = ~Bytes{0};
  for (uint32_t i = 0; i < count; ++i) {
    const Address from = begins_[i], to = EndOf(i);
    const Bytes gap = address > to ? address - to : from > end ? from - end : 0;
    if (gap < least) nearest = i, least = gap;
  }
  if (least == 0 || count == kMostRanges) {
    SetRange(nearest, std::min<Address>(begins_[nearest], address), std::max(EndOf(nearest), end));
  } else {
    SetRange(count, address, end);
    count_.store(count + 1, std::memory_order_relaxed);
  }
  const Address lowest = added_ == 0 ? address : std::min<Address>(lowest_, address);
  const Address highest = added_ == 0 ? end : std::max<Address>(lowest_ + extent_, end);
  lowest_.store(lowest, std::memory_order_relaxed);
  extent_.store(highest - lowest, std::memory_order_relaxed);
  ++added_;
  state_.fetch_or(kMemory, std::memory_order_relaxed);
}

void EagerWatch::Remove() {
  if (--added_ != 0) return;
  state_.fetch_and(~kMemory, std::memory_order_relaxed);
  extent_.store(0, std::memory_order_relaxed);
  count_.store(0, std::memory_order_relaxed);
}

}  // namespace graphkit
