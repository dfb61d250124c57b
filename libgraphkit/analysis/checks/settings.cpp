#include "libgraphkit/analysis/checks/settings.h"

#include <algorithm>

namespace graphkit {

namespace {

constexpr std::string_view kAllocConf = "PYTORCH_ALLOC_CONF";
constexpr std::string_view kOldAllocConf = "PYTORCH_CUDA_ALLOC_CONF";

// clang-format off
constexpr SettingRule kRules[] = {
    {"deferred-record-stream", kAllocConf, "graph_capture_record_stream_reuse", "True",
     "PyTorch takes such a block back at the next malloc of its own stream, if that stream has joined its uses by then; what stays deferred isn't joined, or no malloc follows",
     "set graph_capture_record_stream_reuse:True there, and PyTorch reuses such blocks inside the capture where the graph orders their uses",
     "pytorch/pytorch#158352 and #162186"},
    {"deferred-record-stream", "TORCH_NCCL_AVOID_RECORD_STREAMS", "", "0",
     "collectives record their buffers on NCCL's stream, so that their frees are deferred",
     "", "PyTorch, ProcessGroupNCCL"},
    {"nccl-multi-segment", kAllocConf, "expandable_segments", "True",
     "a segment grows by driver allocations of its own, so that a block may span several",
     "", "PyTorch, CUDA memory management"},
    {"nccl-multi-segment", "NCCL_GRAPH_REGISTER", "", "0", "",
     "NCCL registers the buffers of captured kernels unless this is 0",
     "NCCL, environment variables"},
    {"serialized-branches", "CUDA_DEVICE_MAX_CONNECTIONS", "", "1",
     "all streams reach the device through one queue, in the order of the calls; programs that set it count on that order",
     "", "CUDA C++ Programming Guide, environment variables"},
    {"shared-workspace", "CUBLAS_WORKSPACE_CONFIG", "", "",
     "the size and number of cuBLAS's buffers; handles that share a stream's workspace share them",
     "", "cuBLAS, results reproducibility"},
    {"capture-invalidated", "PYTORCH_NO_CUDA_MEMORY_CACHING", "", "1",
     "every allocation is a call of the driver, and captures refuse cudaMalloc and cudaFree",
     "", "PyTorch, CUDA memory management"},
    {"capture-invalidated", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "", "1",
     "NCCL's watchdog thread asks for events while a capture runs; with cudaStreamCaptureModeGlobal that ends the capture",
     "", "PyTorch, CUDA semantics: usage with DistributedDataParallel"},
    {"unsafe-call-in-capture", "PYTORCH_NO_CUDA_MEMORY_CACHING", "", "1",
     "every allocation is a call of the driver, and captures refuse cudaMalloc and cudaFree",
     "", "PyTorch, CUDA memory management"},
};
// clang-format on

std::optional<std::string_view> FindVariable(const Process& process, std::string_view name) {
  for (const std::string_view entry : process.environment) {
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos && entry.substr(0, equals) == name) {
      return entry.substr(equals + 1);
    }
  }
  return std::nullopt;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Where the value of an option ends: at a comma that isn't inside brackets.
size_t EndOfOption(std::string_view conf, size_t at) {
  int depth = 0;
  for (; at < conf.size(); ++at) {
    if (conf[at] == '[') ++depth;
    if (conf[at] == ']') --depth;
    if (conf[at] == ',' && depth == 0) break;
  }
  return at;
}

std::optional<std::string> FindOption(std::string_view conf, std::string_view option) {
  for (size_t at = 0; at < conf.size();) {
    const size_t end = EndOfOption(conf, at);
    const std::string_view entry = conf.substr(at, end - at);
    const size_t colon = entry.find(':');
    if (colon != std::string_view::npos && Trimmed(entry.substr(0, colon)) == option) {
      return std::string(Trimmed(entry.substr(colon + 1)));
    }
    at = end + 1;
  }
  return std::nullopt;
}

bool IsPyTorch(const Process& process) {
  return std::ranges::any_of(process.environment, [](const std::string& entry) {
    return entry.starts_with("PYTORCH_") || entry.starts_with("TORCH_");
  });
}

std::string Explain(const Process& process, const SettingRule& rule) {
  const std::optional<std::string> value = FindSetting(process, rule.variable, rule.option);
  const std::string option = std::string(rule.option) + (rule.option.empty() ? "" : ":");
  const bool meant = value && (rule.value.empty() || *value == rule.value);
  const std::string_view sentence = meant ? rule.when : rule.when_not;
  if (sentence.empty()) return {};
  std::string setting(rule.variable);
  if (value) {
    setting += "=" + option + *value;
  } else {
    setting += rule.option.empty() ? " isn't set" : " has no " + std::string(rule.option);
  }
  return setting + ": " + std::string(sentence) + " (" + std::string(rule.source) + ")";
}

}  // namespace

std::span<const SettingRule> SettingRules() { return kRules; }

std::optional<std::string> FindSetting(const Process& process, std::string_view variable,
                                       std::string_view option) {
  std::optional<std::string_view> value = FindVariable(process, variable);
  if (!value && variable == kAllocConf) value = FindVariable(process, kOldAllocConf);
  if (!value) return std::nullopt;
  if (option.empty()) return std::string(*value);
  return FindOption(*value, option);
}

void ExplainBySettings(const Process& process, std::vector<Finding>* findings) {
  if (process.environment.empty()) return;
  for (const SettingRule& rule : kRules) {
    const bool torch = rule.variable == kAllocConf;
    if (torch && !IsPyTorch(process)) continue;
    const auto finding = std::ranges::find(*findings, rule.check, &Finding::check);
    if (finding == findings->end()) continue;
    std::string text = Explain(process, rule);
    if (!text.empty()) finding->evidence.push_back({.text = std::move(text)});
  }
}

}  // namespace graphkit
