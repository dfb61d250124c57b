#include "plugins/cupti_tracer/driver/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace graphkit {
namespace {

// By CUDA's major version, the later one first.
struct Major {
  int number;
  const char* cupti;
  const char* runtime;
};
constexpr Major kMajors[] = {{13, "libcupti.so.13", "libcudart.so.13"},
                             {12, "libcupti.so.12", "libcudart.so.12"}};
// From libcudart's folder: beside it (CUDA 13 wheels too), in CUDA 12's wheel, in the toolkit.
constexpr const char* kFromRuntime[] = {"/", "/../../cuda_cupti/lib/", "/../extras/CUPTI/lib64/",
                                        "/../../../extras/CUPTI/lib64/"};
constexpr const char* kInToolkit[] = {"/extras/CUPTI/lib64/", "/lib64/",
                                      "/targets/x86_64-linux/lib/", "/targets/sbsa-linux/lib/",
                                      "/lib/"};

std::string PathOf(void* library) {
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
    return {};
  return map->l_name != nullptr ? map->l_name : "";
}

template <typename Function>
void Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

CuptiLibrary Bind(void* library) {
  CuptiLibrary cupti;
  cupti.path = PathOf(library);
  Load(library, "cuptiSubscribe", cupti.subscribe);
  Load(library, "cuptiSubscribe_v2", cupti.subscribe_named);
  Load(library, "cuptiUnsubscribe", cupti.unsubscribe);
  Load(library, "cuptiEnableCallback", cupti.enable_callback);
  Load(library, "cuptiGetResultString", cupti.result_string);
  Load(library, "cuptiGetGraphId", cupti.graph_id);
  Load(library, "cuptiGetGraphNodeId", cupti.node_id);
  Load(library, "cuptiGetGraphExecId", cupti.exec_id);
  Load(library, "cuptiGetDeviceId", cupti.device_id);
  int (*get_version)(uint32_t*) = nullptr;
  Load(library, "cuptiGetVersion", get_version);
  if (get_version != nullptr) get_version(&cupti.version);
  return cupti;
}

}  // namespace

int Subscribe(const CuptiLibrary& cupti, void** subscriber, cupti::Callback callback, void* user) {
  if (cupti.subscribe_named != nullptr && cupti.version >= cupti::kVersion13_3) {
    cupti::SubscriberParams params{.name = "graphkit", .allow_others = 1};
    const int result = cupti.subscribe_named(subscriber, callback, user, &params);
    if (result == cupti::kSuccess || result == cupti::kNotInitialized) return result;
  }
  return cupti.subscribe(subscriber, callback, user);
}

std::string LoadedLibraryPath(const char* soname) {
  void* library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
  std::string path = PathOf(library);
  if (library != nullptr) dlclose(library);
  return path;
}

namespace {

// The versions whose runtime the program has loaded first; of these, and of the others, the later.
std::vector<Major> MajorsToTry() {
  std::vector<Major> majors(std::begin(kMajors), std::end(kMajors));
  std::stable_partition(majors.begin(), majors.end(), [](const Major& major) {
    return !LoadedLibraryPath(major.runtime).empty();
  });
  return majors;
}

std::vector<std::string> FoldersOf(const Major& major) {
  std::vector<std::string> folders;
  auto add = [&folders](const std::string& library, const char* relative) {
    size_t slash = library.rfind('/');
    if (slash != std::string::npos) folders.push_back(library.substr(0, slash) + relative);
  };
  for (const char* relative : kFromRuntime) add(LoadedLibraryPath(major.runtime), relative);
  if (IsSoftwareDevice()) add(LoadedLibraryPath("libcuda.so.1"), "/");
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    for (const char* relative : kInToolkit) {
      if (root != nullptr && *root != '\0') folders.push_back(std::string(root) + relative);
    }
  }
  for (const char* relative : kInToolkit)
    folders.push_back(std::string("/usr/local/cuda") + relative);
  folders.emplace_back();  // the loader's path
  return folders;
}

}  // namespace

std::vector<std::string> CuptiCandidates() {
  std::vector<std::string> candidates;
  for (const Major& major : MajorsToTry()) {
    for (const std::string& folder : FoldersOf(major)) candidates.push_back(folder + major.cupti);
  }
  return candidates;
}

bool IsSoftwareDevice() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  bool soft = dlsym(driver, "graphkit_soft_shared") != nullptr;
  dlclose(driver);
  return soft;
}

CuptiLibrary OpenCupti(const std::function<bool(const CuptiLibrary&)>& accept) {
  for (const Major& major : kMajors) {
    if (void* library = dlopen(major.cupti, RTLD_LAZY | RTLD_NOLOAD)) {
      CuptiLibrary cupti = Bind(library);
      if (cupti.found()) return accept(cupti), cupti;
    }
  }
  for (const std::string& candidate : CuptiCandidates()) {
    if (void* library = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      CuptiLibrary cupti = Bind(library);
      if (cupti.found() && accept(cupti)) return cupti;
      dlclose(library);
    }
  }
  return {};
}

}  // namespace graphkit
