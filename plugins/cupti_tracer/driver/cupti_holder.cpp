// Who holds CUPTI's subscription.
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "plugins/cupti_tracer/driver/cupti_library.h"

namespace graphkit {
namespace {

// Tools that subscribe to CUPTI, by the beginning of the name of a library of theirs, or by a
// variable that they set. A library that has other uses too comes after those that have none.
struct Tool {
  std::string_view sign;
  std::string_view name;
  std::string_view advice;
};
// By the name that they give CUPTI.
constexpr Tool kByName[] = {
    {"torch-cuspy", "PyTorch",
     "capture without annotation_config's record_py_stacks and backend \"cupti\" "
     "(torch.cuda.graph; \"edge_walk\" needs no CUPTI), and profile without Cuspy"},
};
constexpr Tool kByLibrary[] = {
    {"libToolsInjection", "Nsight Systems", "run without nsys"},
    {"libsanitizer-collection", "compute-sanitizer", "run without it"},
    {"libcuda-injection", "Nsight Compute", "run without ncu"},
    {"libTreeLauncher", "Nsight Compute or compute-sanitizer", "run without it"},
    {"libInterceptorInjection", "Nsight Compute or compute-sanitizer", "run without it"},
    {"libcudadebugger", "cuda-gdb", "run outside of the debugger"},
    {"libproton", "Triton's Proton", "end its session before"},
    {"libkineto", "torch.profiler (Kineto)", "run without it"},
    {"libscorep", "Score-P", "run without its instrumentation"},
    {"libTAU", "TAU", "run without tau_exec"},
    {"libhpcrun", "HPCToolkit", "run without hpcrun"},
    {"libpapi", "PAPI", "leave out its cuda component"},
    {"libnvperf_", "a profiler of performance counters", "run without it"},
    {"libtorch_cpu", "PyTorch (torch.profiler, or torch.cuda.graph with record_py_stacks)",
     "run without these, and without KINETO_USE_DAEMON and KINETO_CONFIG"},
    {"xla_cuda_plugin", "JAX's profiler", "run without jax.profiler"},
    {"libtensorflow", "TensorFlow's profiler", "run without it"},
};
constexpr Tool kByVariable[] = {
    {"NSYS_PROFILING_SESSION_ID", "Nsight Systems", "run without nsys"},
    {"KINETO_USE_DAEMON", "torch.profiler (Kineto)", "run without KINETO_USE_DAEMON"},
    {"KINETO_CONFIG", "torch.profiler (Kineto)", "run without KINETO_CONFIG"},
};

constexpr size_t kNameBytes = 256;

void Nothing(void*, uint32_t, uint32_t, const void*) {}

std::string AskCupti(const CuptiLibrary& cupti) {
  if (cupti.subscribe_named == nullptr) return {};
  char name[kNameBytes] = "";
  cupti::SubscriberParams params{
      .size = cupti::kSubscriberParams13_0, .old_name = name, .old_size = sizeof name - 1};
  void* subscriber = nullptr;
  const int result = cupti.subscribe_named(&subscriber, Nothing, nullptr, &params);
  if (result == cupti::kSuccess && cupti.unsubscribe != nullptr) cupti.unsubscribe(subscriber);
  return name;
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Line(std::string_view holder, std::string_view advice) {
  return std::string(holder) + ": nothing is recorded; " + std::string(advice);
}

std::string Probably(const Tool& tool, const std::string& sign) {
  return Line(
      "CUPTI is held by another tool, most likely " + std::string(tool.name) + " (" + sign + ")",
      tool.advice);
}

}  // namespace

HolderSigns FindHolder(const CuptiLibrary& cupti) {
  HolderSigns signs;
  signs.told = AskCupti(cupti);
  auto add = [](dl_phdr_info* info, size_t, void* list) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &signs.libraries);
  for (const Tool& tool : kByVariable) {
    if (std::getenv(std::string(tool.sign).c_str()) != nullptr)
      signs.variables.emplace_back(tool.sign);
  }
  return signs;
}

std::string HolderText(const HolderSigns& signs) {
  for (const Tool& tool : kByName) {
    if (signs.told.find(tool.sign) != std::string::npos)
      return Line("CUPTI is held by " + std::string(tool.name) + " (" + signs.told + ")",
                  tool.advice);
  }
  if (!signs.told.empty() && signs.told != "CUPTI")
    return Line("CUPTI is held by \"" + signs.told + "\"", "run without it");
  for (const Tool& tool : kByVariable) {
    const auto found = std::find(signs.variables.begin(), signs.variables.end(), tool.sign);
    if (found != signs.variables.end()) return Probably(tool, *found + " is set");
  }
  for (const Tool& tool : kByLibrary) {
    const auto found = std::find_if(
        signs.libraries.begin(), signs.libraries.end(),
        [&](const std::string& path) { return FileName(path).starts_with(tool.sign); });
    if (found != signs.libraries.end()) return Probably(tool, *found + " is loaded");
  }
  return Line("another tool holds CUPTI (torch.profiler, Nsight, …)", "run without it");
}

}  // namespace graphkit
