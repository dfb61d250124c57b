// Quantities, and how people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphkit {

// 64 bits where words of 32 lie.
struct TwoWords {
  uint32_t low = 0;
  uint32_t high = 0;
  constexpr TwoWords() = default;
  constexpr TwoWords(uint64_t value)
      : low(static_cast<uint32_t>(value)), high(static_cast<uint32_t>(value >> 32)) {}
  constexpr operator uint64_t() const { return uint64_t{high} << 32 | low; }
};

using Bytes = uint64_t;
using Address = uint64_t;      // a device (or host) virtual address in the traced process
using Nanoseconds = uint64_t;  // since the trace began, on the monotonic clock

// Place in the trace: the number of the record, counting from 0 in file order, which is the order
// of the API calls. "Capture order" is the order of Seq.
using Seq = uint32_t;
inline constexpr Seq kNever = 0xffffffffu;  // later than everything recorded

// "512 B", "1.5 KiB", "2.00 GiB": at most four significant digits, exact below 1 KiB.
std::string FormatBytes(Bytes bytes);

// As above; nothing is "unknown", which isn't zero.
std::string FormatBytes(std::optional<Bytes> bytes);

// "1,234,567", for counts that a person reads: one word in a pipe, and what sort and awk strip.
std::string FormatCount(uint64_t count);
// "1 node", "3 nodes", "2 branches": the count grouped, the noun in its number.
std::string Counted(uint64_t count, std::string_view noun);

// "82.6%": a share of 1; `decimals` behind the point.
std::string FormatPercent(double share, int decimals = 1);

// "80GiB", "1.2 MiB", "4096", "512B", "2GB" (decimal) to bytes; nothing when it isn't a size.
std::optional<Bytes> ParseBytes(std::string_view text);

// PyTorch's kMinBlockSize: sizes are compared after rounding up to a multiple of it.
inline constexpr Bytes kBlockGranularity = 512;
constexpr Bytes RoundUp(Bytes size, Bytes granularity) {
  return (size + granularity - 1) / granularity * granularity;
}

}  // namespace graphkit
