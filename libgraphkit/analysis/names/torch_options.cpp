#include "libgraphkit/analysis/names/torch_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "libgraphkit/model/caching_config.h"

namespace graphkit {
namespace {

using Version = std::pair<int, int>;

struct TorchOption {
  std::string_view name;
  Version since;
};

// expandable_segments is in the documentation of 2.1, the other in pytorch/pytorch#158352.
constexpr std::array<TorchOption, 2> kOptions = {{
    {"expandable_segments", {2, 1}},
    {"graph_capture_record_stream_reuse", {2, 9}},
}};
constexpr Version kOldest = {2, 1};  // that graphkit knows

// "2.9.1+cu130" → 2, 9.
std::optional<Version> VersionOf(const Process& process) {
  const std::string text = FindSetting(process, "PYTORCH_VERSION", "").value_or("");
  Version version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  return minor.ec == std::errc() ? std::optional(version) : std::nullopt;
}

}  // namespace

std::string_view AllocConfName(const Process& process) {
  constexpr std::string_view kNames[] = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};
  const bool newer = std::ranges::any_of(process.environment, [&](const std::string& entry) {
    return entry.starts_with(std::string(kNames[0]) + "=");
  });
  return kNames[newer ? 0 : 1];
}

std::string SetTorchOption(const Process& process, std::string_view option) {
  const auto* row = std::ranges::find(kOptions, option, &TorchOption::name);
  const Version since = row == kOptions.end() ? kOldest : row->since;
  const std::optional<Version> version = VersionOf(process);
  if (version && *version < since) return "";
  const std::string set = std::string(AllocConfName(process)) + "=" + std::string(option) + ":True";
  if (version || since <= kOldest) return set;
  return set + " (since PyTorch " + std::to_string(since.first) + "." +
         std::to_string(since.second) + ")";
}

}  // namespace graphkit
