#include "tools/graphkit/doctor/cuda_probe.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tools/graphkit/child.h"

namespace graphkit {

// The answer of a child.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbedLibrary, name, path, version)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbedDevice, name, major, minor, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CudaProbe, driver, init_error, init_error_name, devices,
                                   subscribe_tried, subscribe_error, subscriber)

namespace {

namespace fs = std::filesystem;

constexpr auto kProbeLimit = std::chrono::seconds(20);  // a driver that hangs is a finding, too
constexpr int kHeldBySomeoneElse = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr int kMajorAttribute = 75;     // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR (cuda.h)
constexpr int kMinorAttribute = 76;

constexpr const char* kDriverName = "libcuda.so.1";
constexpr std::array<const char*, 2> kRuntimeNames = {"libcudart.so.13", "libcudart.so.12"};
constexpr std::array<const char*, 2> kCuptiNames = {"libcupti.so.13", "libcupti.so.12"};

// CUpti_SubscriberParams of CUDA 13.0 (cupti_callbacks.h).
struct SubscriberParams {
  size_t size = sizeof(SubscriberParams);
  const char* name = nullptr;
  char* old_name = nullptr;
  size_t old_size = 0;
};

// Calls a function of the library; -1 where it has none of that name.
template <typename... Arguments>
int Call(void* library, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  return function == nullptr ? -1 : function(arguments...);
}

std::string PathOf(void* library, const char* symbol) {
  Dl_info info{};
  void* address = dlsym(library, symbol);
  if (address == nullptr || dladdr(address, &info) == 0) return "";
  return info.dli_fname;
}

std::vector<std::string> Globbed(const fs::path& root, const std::vector<std::string>& below) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    for (const std::string& folder : below) {
      const fs::path path = entry.path() / folder;
      if (fs::is_directory(path, error)) found.push_back(path.string());
    }
  }
  return found;
}

// Folders outside the loader's path where a toolkit or NVIDIA's Python wheels put libraries.
std::vector<std::string> ToolkitFolders() {
  std::vector<std::string> roots, folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) roots.emplace_back(value);
  }
  roots.emplace_back("/usr/local/cuda");
  for (const std::string& root : roots) {
    for (const char* below : {"/extras/CUPTI/lib64", "/lib64", "/lib"})
      folders.push_back(root + below);
  }
  if (const char* environment = std::getenv("VIRTUAL_ENV")) {
    const std::vector<std::string> wheels = {"site-packages/nvidia/cu13/lib",
                                             "site-packages/nvidia/cuda_cupti/lib",
                                             "site-packages/nvidia/cuda_runtime/lib"};
    for (std::string& folder : Globbed(fs::path(environment) / "lib", wheels)) {
      folders.push_back(std::move(folder));
    }
  }
  return folders;
}

// Opens by the loader's own search first, then in the toolkit's folders.
void* Open(const char* name) {
  if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  for (const std::string& folder : ToolkitFolders()) {
    const std::string path = folder + "/" + name;
    if (!fs::exists(path)) continue;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

// In a child: "libcudart.so.13" and its version by `symbol`.
ProbedLibrary ProbeVersion(const char* name, const char* symbol) {
  ProbedLibrary probed{.name = name};
  void* library = Open(name);
  if (library == nullptr) return probed;
  Call(library, symbol, &probed.version);
  probed.path = PathOf(library, symbol);
  return probed;
}

ProbedDevice ProbeDevice(void* driver, int index) {
  int device = 0;
  ProbedDevice probed;
  std::array<char, 256> name{};
  size_t bytes = 0;
  Call(driver, "cuDeviceGet", &device, index);
  Call(driver, "cuDeviceGetName", name.data(), static_cast<int>(name.size()) - 1, device);
  Call(driver, "cuDeviceGetAttribute", &probed.major, kMajorAttribute, device);
  Call(driver, "cuDeviceGetAttribute", &probed.minor, kMinorAttribute, device);
  Call(driver, "cuDeviceTotalMem_v2", &bytes, device);
  probed.name = name.data();
  probed.bytes = bytes;
  return probed;
}

void IgnoreCallback(void*, int, uint32_t, const void*) {}

// Takes CUPTI's subscription, to see whether it is free, and gives it back by ending.
void ProbeSubscription(CudaProbe& probe) {
  for (const char* name : kCuptiNames) {
    void* library = Open(name);
    if (library == nullptr || dlsym(library, "cuptiSubscribe_v2") == nullptr) continue;
    std::array<char, 256> holder{};
    SubscriberParams params{
        .name = "graphkit doctor", .old_name = holder.data(), .old_size = holder.size() - 1};
    void* handle = nullptr;
    probe.subscribe_tried = true;
    probe.subscribe_error =
        Call(library, "cuptiSubscribe_v2", &handle, &IgnoreCallback, (void*)nullptr, &params);
    if (probe.subscribe_error == kHeldBySomeoneElse) probe.subscriber = holder.data();
    return;
  }
}

CudaProbe ProbeDriver() {
  CudaProbe probe{.driver = {.name = kDriverName}};
  void* driver = Open(kDriverName);
  if (driver == nullptr) return probe;
  Call(driver, "cuDriverGetVersion", &probe.driver.version);
  probe.driver.path = PathOf(driver, "cuInit");
  probe.init_error = Call(driver, "cuInit", 0u);
  const char* text = "";
  if (probe.init_error != 0) {
    Call(driver, "cuGetErrorName", probe.init_error, &text);
    probe.init_error_name = text;
    return probe;
  }
  int count = 0;
  if (Call(driver, "cuDeviceGetCount", &count) == -1) return probe;
  for (int i = 0; i < count; ++i) probe.devices.push_back(ProbeDevice(driver, i));
  ProbeSubscription(probe);
  return probe;
}

// The result of a probe in a child; nothing when the child failed, and why.
template <typename Probed>
std::optional<Probed> Ask(const std::function<Probed()>& probe, std::string& problem) {
  const auto work = [&probe] {
    return nlohmann::json(probe()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  const ChildAnswer answer =
      RunInChild(work, {.limit = kProbeLimit, .doing = "asking the CUDA libraries what they are"});
  if (!answer.whole()) {
    problem = "a process that opened it " + answer.Failure();
    return std::nullopt;
  }
  const nlohmann::json json = nlohmann::json::parse(answer.text, nullptr, false);
  return json.is_object() ? std::optional(json.get<Probed>()) : std::nullopt;
}

ProbedLibrary AskVersion(const char* name, const char* symbol) {
  std::string problem;
  const auto probed = Ask<ProbedLibrary>([=] { return ProbeVersion(name, symbol); }, problem);
  return probed.value_or(ProbedLibrary{.name = name, .problem = problem});
}

CudaProbe AskDriver() {
  std::string problem;
  const auto probed = Ask<CudaProbe>(ProbeDriver, problem);
  return probed.value_or(CudaProbe{.driver = {.name = kDriverName, .problem = problem}});
}

}  // namespace

CudaProbe ProbeCuda() {
  CudaProbe probe = AskDriver();
  for (const char* name : kRuntimeNames) {
    probe.runtimes.push_back(AskVersion(name, "cudaRuntimeGetVersion"));
  }
  for (const char* name : kCuptiNames) {
    probe.cuptis.push_back(AskVersion(name, "cuptiGetVersion"));
  }
  return probe;
}

bool HasGpu() {
  std::string problem;
  const auto count = [] {
    CudaProbe probe;
    void* driver = dlopen(kDriverName, RTLD_NOW | RTLD_LOCAL);
    int devices = 0;
    if (driver == nullptr || Call(driver, "cuInit", 0u) != 0) return probe;
    probe.devices.resize(Call(driver, "cuDeviceGetCount", &devices) == 0 && devices > 0 ? 1 : 0);
    return probe;
  };
  const auto probe = Ask<CudaProbe>(count, problem);
  return probe && !probe->devices.empty();
}

ProbedLibrary FindCupti() {
  for (const char* name : kCuptiNames) {
    ProbedLibrary library = AskVersion(name, "cuptiGetVersion");
    if (!library.path.empty()) return library;
  }
  return {};
}

std::string CudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string CuptiVersionText(int version) {
  if (version < 100000) return "API version " + std::to_string(version);
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace graphkit
