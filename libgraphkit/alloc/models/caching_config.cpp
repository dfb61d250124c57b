#include "libgraphkit/alloc/models/caching_config.h"

#include <algorithm>
#include <bit>

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

}  // namespace

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
