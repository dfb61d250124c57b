#include "tools/graphkit/doctor/cuda_probe.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tools/graphkit/child.h"

namespace graphkit {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr auto kProbeLimit = std::chrono::seconds(20);  // a driver that hangs is a finding, too
constexpr int kHeldBySomeoneElse = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr int kMajorAttribute = 75;     // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR (cuda.h)
constexpr int kMinorAttribute = 76;

constexpr std::array<const char*, 2> kRuntimeNames = {"libcudart.so.13", "libcudart.so.12"};
constexpr std::array<const char*, 2> kCuptiNames = {"libcupti.so.13", "libcupti.so.12"};

// CUpti_SubscriberParams of CUDA 13.0 (cupti_callbacks.h).
struct SubscriberParams {
  size_t size = sizeof(SubscriberParams);
  const char* name = nullptr;
  char* old_name = nullptr;
  size_t old_size = 0;
};

template <typename Function>
Function Symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
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

Json LibraryJson(const std::string& name, const std::string& path, int version) {
  return Json{{"name", name}, {"path", path}, {"version", version}};
}

// In a child: "libcudart.so.13" and its version by `symbol`.
Json ProbeVersion(const char* name, const char* symbol) {
  void* library = Open(name);
  if (library == nullptr) return LibraryJson(name, "", 0);
  int version = 0;
  const auto get = Symbol<int (*)(int*)>(library, symbol);
  if (get != nullptr) get(&version);
  return LibraryJson(name, PathOf(library, symbol), version);
}

Json ProbeDevice(void* driver, int index) {
  int device = 0, major = 0, minor = 0;
  size_t bytes = 0;
  std::array<char, 256> name{};
  const auto get = Symbol<int (*)(int*, int)>(driver, "cuDeviceGet");
  const auto get_name = Symbol<int (*)(char*, int, int)>(driver, "cuDeviceGetName");
  const auto get_attribute = Symbol<int (*)(int*, int, int)>(driver, "cuDeviceGetAttribute");
  const auto get_memory = Symbol<int (*)(size_t*, int)>(driver, "cuDeviceTotalMem_v2");
  if (get != nullptr) get(&device, index);
  if (get_name != nullptr) get_name(name.data(), static_cast<int>(name.size()) - 1, device);
  if (get_attribute != nullptr) get_attribute(&major, kMajorAttribute, device);
  if (get_attribute != nullptr) get_attribute(&minor, kMinorAttribute, device);
  if (get_memory != nullptr) get_memory(&bytes, device);
  return Json{{"name", name.data()}, {"major", major}, {"minor", minor}, {"bytes", bytes}};
}

void IgnoreCallback(void*, int, uint32_t, const void*) {}

// Takes CUPTI's subscription, to see whether it is free, and gives it back by ending.
void ProbeSubscription(Json& answer) {
  for (const char* name : kCuptiNames) {
    void* library = Open(name);
    if (library == nullptr) continue;
    const auto subscribe = Symbol<int (*)(void**, void (*)(void*, int, uint32_t, const void*),
                                          void*, SubscriberParams*)>(library, "cuptiSubscribe_v2");
    if (subscribe == nullptr) continue;
    std::array<char, 256> holder{};
    SubscriberParams params{
        .name = "graphkit doctor", .old_name = holder.data(), .old_size = holder.size() - 1};
    void* handle = nullptr;
    answer["subscribe_error"] = subscribe(&handle, IgnoreCallback, nullptr, &params);
    answer["subscriber"] = holder.data();
    return;
  }
}

Json ProbeDriver() {
  Json answer = {{"init", 0}, {"init_name", ""}, {"devices", Json::array()}};
  void* driver = Open("libcuda.so.1");
  answer["library"] = LibraryJson("libcuda.so.1", "", 0);
  if (driver == nullptr) return answer;
  int version = 0, count = 0;
  const auto get_version = Symbol<int (*)(int*)>(driver, "cuDriverGetVersion");
  const auto init = Symbol<int (*)(unsigned)>(driver, "cuInit");
  const auto error_name = Symbol<int (*)(int, const char**)>(driver, "cuGetErrorName");
  const auto get_count = Symbol<int (*)(int*)>(driver, "cuDeviceGetCount");
  if (get_version != nullptr) get_version(&version);
  answer["library"] = LibraryJson("libcuda.so.1", PathOf(driver, "cuInit"), version);
  const int error = init == nullptr ? -1 : init(0);
  const char* text = nullptr;
  if (error != 0 && error_name != nullptr) error_name(error, &text);
  answer["init"] = error;
  answer["init_name"] = text == nullptr ? "" : text;
  if (error != 0 || get_count == nullptr) return answer;
  get_count(&count);
  for (int i = 0; i < count; ++i) answer["devices"].push_back(ProbeDevice(driver, i));
  ProbeSubscription(answer);
  return answer;
}

ProbedLibrary ToLibrary(const Json& json) {
  return {.name = json["name"], .path = json["path"], .version = json["version"]};
}

// Runs a probe in a child and reads its answer; null when the child failed, and why.
Json Ask(const std::function<Json()>& probe, std::string& problem) {
  const auto work = [&probe] {
    return probe().dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const ChildAnswer answer =
      RunInChild(work, {.limit = kProbeLimit, .doing = "asking the CUDA libraries what they are"});
  if (!answer.whole()) {
    problem = "a process that opened it " + answer.Failure();
    return nullptr;
  }
  return Json::parse(answer.text, nullptr, false);
}

ProbedLibrary AskVersion(const char* name, const char* symbol) {
  std::string problem;
  const Json json = Ask([=] { return ProbeVersion(name, symbol); }, problem);
  if (json.is_object()) return ToLibrary(json);
  return {.name = name, .problem = problem};
}

void AskDriver(CudaProbe& probe) {
  const Json json = Ask(ProbeDriver, probe.driver.problem);
  probe.driver.name = "libcuda.so.1";
  if (!json.is_object()) return;
  probe.driver = ToLibrary(json["library"]);
  probe.init_error = json["init"];
  probe.init_error_name = json["init_name"];
  for (const Json& device : json["devices"]) {
    probe.devices.push_back(
        {device["name"], device["major"], device["minor"], device["bytes"].get<uint64_t>()});
  }
  if (!json.contains("subscribe_error")) return;
  probe.subscribe_tried = true;
  probe.subscribe_error = json["subscribe_error"];
  if (probe.subscribe_error == kHeldBySomeoneElse) probe.subscriber = json["subscriber"];
}

}  // namespace

CudaProbe ProbeCuda() {
  CudaProbe probe;
  AskDriver(probe);
  for (const char* name : kRuntimeNames) {
    probe.runtimes.push_back(AskVersion(name, "cudaRuntimeGetVersion"));
  }
  for (const char* name : kCuptiNames) {
    probe.cuptis.push_back(AskVersion(name, "cuptiGetVersion"));
  }
  return probe;
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
