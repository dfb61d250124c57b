// The values that a pickle's opcodes make, and the stack they lie on. Only pickle.cpp needs them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/io/pickle/pickle.h"

namespace graphkit {

inline PickleValue Integer(int64_t v) {
  PickleValue value;
  value.type = PickleType::kInt;
  value.integer = v;
  return value;
}

inline PickleValue Text(PickleType type, std::string_view text) {
  PickleValue value;
  value.type = type;
  value.length = static_cast<uint32_t>(text.size());
  value.chars = text.data();
  return value;
}

// Two's complement, little-endian, of any length: pickle's LONG.
inline PickleValue LongInteger(std::string_view bytes) {
  const bool negative = !bytes.empty() && (static_cast<uint8_t>(bytes.back()) & 0x80u);
  const auto byte = [&](size_t i) { return uint64_t{static_cast<uint8_t>(bytes[i])}; };
  uint64_t low = negative ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 8); ++i) {
    low = (low & ~(uint64_t{0xff} << (8 * i))) | (byte(i) << (8 * i));
  }
  if (bytes.size() <= 8) return Integer(static_cast<int64_t>(low));
  if (bytes.size() == 9 && bytes[8] == 0) {
    PickleValue value;
    value.type = PickleType::kUint;
    value.natural = low;
    return value;
  }
  return Text(PickleType::kBigInt, bytes);
}

// A stack whose values stay readable after they were taken off, until the next push.
class ValueStack {
 public:
  size_t size() const { return size_; }
  const PickleValue& back() const { return slots_[size_ - 1]; }
  std::span<const PickleValue> from(size_t first) const {
    return std::span(slots_).subspan(first, size_ - first);
  }
  void push(PickleValue value) {
    if (size_ == slots_.size()) slots_.resize(std::max<size_t>(256, 2 * size_));
    slots_[size_++] = value;
  }
  void cut(size_t size) { size_ = size; }

 private:
  std::vector<PickleValue> slots_;
  size_t size_ = 0;
};

}  // namespace graphkit
