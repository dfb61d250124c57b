#include "tools/graphkit/plugins.h"

#include <algorithm>

namespace graphkit {

namespace fs = std::filesystem;

const std::vector<std::string>& SoftParts() {
  static const std::vector<std::string> parts = {
      "libcuda.so.1",
      "libcudart.so.12",
      "libcudart.so.13",
      "libcupti.so.12",
      "libcupti.so.13",
      "libgraphkit_soft_audit.so",
      "libraries/libcublas.so.12",
      "libraries/libcublas.so.13",
      "libraries/libcublasLt.so.12",
      "libraries/libcublasLt.so.13",
      "libraries/libcudnn.so.9",
      "libraries/libcufft.so.11",
      "libraries/libcufft.so.12",
      "libraries/libcurand.so.10",
      "libraries/libcusolver.so.11",
      "libraries/libcusolver.so.12",
      "libraries/libcusparse.so.12",
      "libraries/libcusparseLt.so.0",
      "libraries/libnccl.so.2",
      "libraries/libnvidia-ml.so.1",
  };
  return parts;
}

std::vector<std::string> MissingSoftParts(const std::string& plugin_folder) {
  const fs::path folder = fs::path(plugin_folder) / "soft_cuda";
  std::vector<std::string> missing;
  for (const std::string& part : SoftParts()) {
    std::error_code error;
    if (!fs::exists(folder / part, error)) missing.push_back(fs::path(part).filename());
  }
  return missing;
}

std::string NameSome(const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  const size_t shown = names.size() <= kMost + 1 ? names.size() : kMost;
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  return shown == names.size() ? text
                               : text + " and " + std::to_string(names.size() - shown) + " others";
}

std::string HowToGetParts(const std::string& plugin_folder) {
  const fs::path build = (fs::path(plugin_folder) / "../..").lexically_normal().parent_path();
  std::error_code error;
  if (!fs::exists(build / "CMakeCache.txt", error)) {
    return "install graphkit again, with its software device";
  }
  const fs::path here = fs::current_path(error);
  const fs::path below = build.lexically_relative(here);
  const std::string folder = (below.empty() || *below.begin() == ".." ? build : below).string();
  std::string command;
#ifdef GRAPHKIT_WITHOUT_SOFT_DEVICE
  command = "tools/setup.sh && cmake -B " + folder +
            " -DGRAPHKIT_PLUGINS=ON -DGRAPHKIT_SOFT_DEVICE=ON && ";
#endif
  return command + "cmake --build " + folder + " --target trace_parts";
}

}  // namespace graphkit
