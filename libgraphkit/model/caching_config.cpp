#include "libgraphkit/model/caching_config.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

#include "libgraphkit/model/torch_snapshot.h"

namespace graphkit {
namespace {

uint32_t DivisionsFor(const CachingConfig& config, Bytes size) {
  const auto log = static_cast<size_t>(std::bit_width(size) - 1);
  const size_t slot = log > 20 ? log - 20 : 0;
  return config.roundup_power2_divisions[std::min<size_t>(slot, 15)];
}

// The next of `divisions` steps between the powers of two around size.
Bytes RoundToDivision(Bytes size, uint32_t divisions) {
  if (std::has_single_bit(size)) return size;
  const Bytes floor = std::bit_floor(size);
  const Bytes step = floor >> (std::bit_width(divisions) - 1);
  if (step == 0) return floor << 1;
  return RoundUp(size, step);
}

// The value of a setting of PYTORCH_CUDA_ALLOC_CONF; 0: it isn't there.
Bytes MegabytesOf(std::string_view conf, std::string_view name) {
  const size_t at = conf.find(name);
  Bytes megabytes = 0;
  if (at != std::string_view::npos) {
    std::from_chars(conf.data() + at + name.size(), conf.data() + conf.size(), megabytes);
  }
  return megabytes;
}

}  // namespace

CachingConfig ConfigOf(const TorchSettings& settings) {
  CachingConfig config;
  if (settings.max_split_size > 0)
    config.max_split_size = static_cast<Bytes>(settings.max_split_size);
  config.expandable_segments = settings.expandable_segments;
  config.garbage_collection_threshold = settings.garbage_collection_threshold;
  for (const auto& [megabytes, divisions] : settings.roundup_power2_divisions) {
    if (megabytes == 0) continue;
    const auto slot = static_cast<size_t>(std::bit_width(megabytes) - 1);
    if (slot < config.roundup_power2_divisions.size())
      config.roundup_power2_divisions[slot] = divisions;
  }
  if (const Bytes size = MegabytesOf(settings.conf, "large_segment_size_mb:"); size > 0)
    config.large_segment = size << 20;
  if (const Bytes size = MegabytesOf(settings.conf, "max_non_split_rounding_mb:"); size > 0)
    config.max_non_split_rounding = size << 20;
  return config;
}

Bytes RoundRequest(const CachingConfig& config, Bytes size) {
  if (size < config.min_block) return config.min_block;
  const uint32_t divisions = DivisionsFor(config, size);
  if (divisions > 1 && size > config.min_block * divisions) return RoundToDivision(size, divisions);
  return RoundUp(size, config.min_block);
}

Bytes SegmentSize(const CachingConfig& config, Bytes rounded) {
  if (rounded <= config.small_size) return config.small_segment;
  if (rounded < config.min_large) return config.large_segment;
  return RoundUp(rounded, config.round_large);
}

}  // namespace graphkit
