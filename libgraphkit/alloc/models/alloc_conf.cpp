#include "libgraphkit/alloc/models/caching_allocator.h"

#include <algorithm>
#include <bit>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/edit_distance.h"

namespace graphkit {
namespace {

// Megabytes up to 2^20 of them.
std::optional<Bytes> Megabytes(std::string_view text) {
  const auto number = ParseNumber<uint32_t>(text);
  if (!number || *number == 0 || *number > (1u << 20)) return std::nullopt;
  return Bytes{*number} << 20;
}

std::optional<bool> Switch(std::string_view text) {
  if (text.empty() || text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

bool SetExpandable(std::string_view value, CachingConfig* config) {
  const std::optional<bool> on = Switch(value);
  config->expandable_segments = on.value_or(false);
  return on.has_value();
}

bool SetMaxSplitSize(std::string_view value, CachingConfig* config) {
  const std::optional<Bytes> size = Megabytes(value);
  if (!size || *size < config->large_segment) return false;
  config->max_split_size = *size;
  return true;
}

bool SetLargeSegment(std::string_view value, CachingConfig* config) {
  const std::optional<Bytes> size = Megabytes(value);
  config->large_segment = size.value_or(config->large_segment);
  return size.has_value();
}

bool SetCollection(std::string_view value, CachingConfig* config) {
  const auto threshold = ParseNumber<double>(value);
  if (!threshold || !(*threshold > 0 && *threshold < 1)) return false;
  config->garbage_collection_threshold = *threshold;
  return true;
}

bool IsDivisions(uint32_t number) { return number == 0 || std::has_single_bit(number); }

// The size class of "256"; that behind the last one of ">".
std::optional<size_t> SizeClass(std::string_view size, size_t last) {
  if (size == ">") return last + 1;
  const auto megabytes = ParseNumber<uint32_t>(size);
  if (!megabytes || !std::has_single_bit(*megabytes)) return std::nullopt;
  return std::bit_width(*megabytes) - 1;
}

// "[256:1,512:2,>:8]": the first one also holds for smaller sizes, ">" for all that are larger.
bool SetDivisionList(std::string_view list, CachingConfig* config) {
  auto& divisions = config->roundup_power2_divisions;
  divisions.fill(0);
  std::optional<size_t> last;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    const std::string_view size = entry.substr(0, entry.find(':'));
    const auto number =
        ParseNumber<uint32_t>(entry.substr(std::min(entry.size(), size.size() + 1)));
    const std::optional<size_t> at = SizeClass(size, last.value_or(0));
    if (!number || !IsDivisions(*number) || !at || *at >= divisions.size()) return false;
    const auto begin = divisions.begin();
    if (!last) std::fill_n(begin, *at, *number);
    divisions[*at] = *number;
    if (size == ">") std::fill(begin + static_cast<ptrdiff_t>(*at), divisions.end(), *number);
    last = at;
  }
  return last.has_value();
}

bool SetDivisions(std::string_view value, CachingConfig* config) {
  if (value.starts_with('[') && value.ends_with(']')) {
    return SetDivisionList(value.substr(1, value.size() - 2), config);
  }
  const auto number = ParseNumber<uint32_t>(value);
  if (!number || !IsDivisions(*number)) return false;
  config->roundup_power2_divisions.fill(*number);
  return true;
}

struct Option {
  std::string_view name;
  bool (*set)(std::string_view value, CachingConfig* config);
  const char* example;
};
constexpr std::array<Option, 5> kOptions = {{
    {"expandable_segments", SetExpandable, "expandable_segments:True"},
    {"max_split_size_mb", SetMaxSplitSize, "max_split_size_mb:128, at least 20"},
    {"roundup_power2_divisions", SetDivisions, "roundup_power2_divisions:4, a power of two"},
    {"garbage_collection_threshold", SetCollection, "garbage_collection_threshold:0.8"},
    {"large_segment_size_mb", SetLargeSegment, "large_segment_size_mb:20"},
}};

Error Unknown(std::string_view name) {
  const Option* nearest = &kOptions.front();
  for (const Option& option : kOptions) {
    const std::string wrong(name);
    if (EditDistance(wrong, std::string(option.name)) <
        EditDistance(wrong, std::string(nearest->name))) {
      nearest = &option;
    }
  }
  return {.message = "no setting '" + std::string(name) + "' that the model knows",
          .hint = "did you mean " + std::string(nearest->name) + "?"};
}

}  // namespace

Result<CachingConfig> WithAllocConf(CachingConfig base, std::string_view conf) {
  if (conf.empty())
    return Error{.message = "no setting", .hint = "expandable_segments:True is one"};
  while (!conf.empty()) {
    const std::string_view setting = NextSetting(&conf);
    const std::string_view name = setting.substr(0, setting.find(':'));
    const std::string_view value = setting.substr(std::min(setting.size(), name.size() + 1));
    const Option* option = nullptr;
    for (const Option& known : kOptions) {
      if (known.name == name) option = &known;
    }
    if (option == nullptr) return Unknown(name);
    if (!option->set(value, &base)) {
      return Error{.message = "'" + std::string(setting) + "' is no value that PyTorch takes",
                   .hint = std::string("write ") + option->example};
    }
  }
  return base;
}

}  // namespace graphkit
