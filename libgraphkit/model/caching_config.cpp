#include "libgraphkit/model/caching_config.h"

#include <algorithm>
#include <bit>
#include <charconv>

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

std::string_view Trimmed(std::string_view text) {
  const size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// The value of one of PyTorch's settings; nothing: it isn't there.
std::optional<std::string_view> FindOption(std::string_view settings, std::string_view option) {
  while (!settings.empty()) {
    const std::string_view setting = NextSetting(&settings);
    const size_t colon = setting.find(':');
    if (colon != setting.npos && Trimmed(setting.substr(0, colon)) == option)
      return Trimmed(setting.substr(colon + 1));
  }
  return std::nullopt;
}

// 0: the setting isn't there.
Bytes MegabytesOf(std::string_view conf, std::string_view name) {
  const std::string_view value = FindOption(conf, name).value_or("");
  Bytes megabytes = 0;
  std::from_chars(value.data(), value.data() + value.size(), megabytes);
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
  if (const Bytes size = MegabytesOf(settings.conf, "large_segment_size_mb"); size > 0)
    config.large_segment = size << 20;
  if (const Bytes size = MegabytesOf(settings.conf, "max_non_split_rounding_mb"); size > 0)
    config.max_non_split_rounding = size << 20;
  return config;
}

std::string_view NextSetting(std::string_view* settings) {
  size_t end = 0, depth = 0;
  for (; end < settings->size() && ((*settings)[end] != ',' || depth > 0); ++end) {
    if ((*settings)[end] == '[') ++depth;
    if ((*settings)[end] == ']' && depth > 0) --depth;
  }
  const std::string_view setting = settings->substr(0, end);
  settings->remove_prefix(std::min(settings->size(), end + 1));
  return setting;
}

std::optional<std::string> FindSetting(const Process& process, std::string_view variable,
                                       std::string_view option) {
  for (const std::string_view entry : process.environment) {
    if (entry.substr(0, entry.find('=')) != variable || entry == variable) continue;
    const std::string_view value = entry.substr(variable.size() + 1);
    const auto found = option.empty() ? value : FindOption(value, option);
    return found ? std::optional<std::string>(*found) : std::nullopt;
  }
  if (variable != "PYTORCH_ALLOC_CONF") return std::nullopt;
  return FindSetting(process, "PYTORCH_CUDA_ALLOC_CONF", option);
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
