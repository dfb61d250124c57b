// The numbers and the rounding rules of PyTorch's caching allocator, as a value.
// Source: c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h of PyTorch, December
// 2025.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/units.h"

namespace graphkit {

inline constexpr Bytes kSegmentAlignment = Bytes{2} << 20;  // where segments begin

struct CachingConfig {
  static constexpr Bytes kNoLimit = ~Bytes{0};

  Bytes min_block = 512;                  // every block is a multiple of it
  Bytes small_size = Bytes{1} << 20;      // requests up to it are served from small segments
  Bytes small_segment = Bytes{2} << 20;   // size of a small segment
  Bytes large_segment = Bytes{20} << 20;  // size of a segment for requests below min_large
  Bytes min_large = Bytes{10} << 20;      // requests from it on get a segment of their own size
  Bytes round_large = Bytes{2} << 20;     // which is rounded up to a multiple of this
  Bytes max_split_size = kNoLimit;        // blocks from it on are never split
  // A block that is never split may be this much larger than the request that it serves.
  Bytes max_non_split_rounding = Bytes{20} << 20;
  // Steps between powers of two, by size class: [i] for sizes from 2^(20+i), [0] also below, [15]
  // also above. 0 and 1: no such rounding.
  std::array<uint32_t, 16> roundup_power2_divisions{};
  // The choice among several free blocks of the best size.
  enum class Ties : uint8_t { kLowest, kOldestSegment };
  Ties ties = Ties::kLowest;
  bool expandable_segments = false;
  Bytes device_memory = Bytes{80} << 30;  // an expandable segment reserves 9/8 of it
  // The most that this process may take from the driver (set_per_process_memory_fraction).
  std::optional<Bytes> memory_limit;
  // Share of memory_limit above which unused segments are given back; 0: never.
  double garbage_collection_threshold = 0;

  bool operator==(const CachingConfig&) const = default;
};

// The allocator's settings as a snapshot states them.
struct TorchSettings;
CachingConfig ConfigOf(const TorchSettings& settings);

// The next of its settings as people write them ("a:1,b:[64:8,>:4],c:True"), up to a comma outside
// of brackets; shortens `settings`.
std::string_view NextSetting(std::string_view* settings);
// The value of a variable in the recorded environment, or of one of the allocator's settings in
// PYTORCH_ALLOC_CONF or its older name PYTORCH_CUDA_ALLOC_CONF.
struct Process;
std::optional<std::string> FindSetting(const Process& process, std::string_view variable,
                                       std::string_view option = {});

// A request's size as the allocator sees it.
Bytes RoundRequest(const CachingConfig& config, Bytes size);

// True when a rounded request is served from the small pool.
inline bool IsSmall(const CachingConfig& config, Bytes rounded) {
  return rounded <= config.small_size;
}

// The size of the segment that is got from the driver for a rounded request.
Bytes SegmentSize(const CachingConfig& config, Bytes rounded);

}  // namespace graphkit
