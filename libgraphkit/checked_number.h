// Numbers that others wrote, and the types that we keep them in: none is cut off unseen, and no sum
// of sizes wraps. A reader of files refuses what doesn't pass here.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

// No piece of memory is larger: device addresses have 57 bits.
inline constexpr Bytes kLargestMemory = Bytes{1} << 56;
// Nor are all of a file's together. So sums, and sizes rounded up, stay far from 2^64.
inline constexpr Bytes kMostMemory = Bytes{1} << 62;

// The number that the whole text is, without spaces or a plus; nothing when it is none, or too
// large. `how`: the base of a whole number, or the std::chars_format of another.
template <typename T>
std::optional<T> ParseNumber(std::string_view text, auto... how) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, how...);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// Nothing when the value doesn't fit.
template <std::integral To, std::integral From>
constexpr std::optional<To> Narrow(From value) {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

// The nearest that fits: for what is only shown, such as a line or a priority.
template <std::integral To, std::integral From>
constexpr To Saturate(From value) {
  if (std::in_range<To>(value)) return static_cast<To>(value);
  return std::cmp_less(value, 0) ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
}

// A limit of so many percent more may be beyond 2^64.
constexpr uint64_t SaturateWhole(double value) {
  if (value >= 0x1p64) return std::numeric_limits<uint64_t>::max();
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

// A computed size to the nearest byte: 0 for what is less or no number, at most all memory.
inline Bytes NearestBytes(double value) {
  return std::min(SaturateWhole(std::round(value)), kMostMemory);
}

// GraphId(7) of 7; nothing for what is no id.
template <typename IdType>
constexpr std::optional<IdType> ToId(uint64_t value) {
  if (value >= IdType::kNone) return std::nullopt;
  return IdType(static_cast<uint32_t>(value));
}

// Adds up memory; false from where it is more than there can be.
class MemorySum {
 public:
  constexpr bool Add(Bytes size) {
    fits_ = fits_ && size <= kMostMemory - total_;
    if (fits_) total_ += size;
    return fits_;
  }
  constexpr Bytes total() const { return total_; }

 private:
  Bytes total_ = 0;
  bool fits_ = true;
};

}  // namespace graphkit
