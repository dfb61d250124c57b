// Where the plugins are: files in ../lib/graphkit, seen from the executable, in the build tree as
// in an installed one. Those that `graphkit trace` needs, and how to get what is missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace graphkit {

// The folder of the plugins, whether it exists or not.
inline std::string PluginFolder() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return (executable.parent_path() / "../lib/graphkit").lexically_normal().string();
}

inline constexpr const char* kTracerPlugin = "libgraphkit_tracer.so";
inline constexpr const char* kExecutorPlugin = "libgraphkit_cuda_exec.so";
inline constexpr const char* kSoftDriver = "soft_cuda/libcuda.so.1";

// The libraries of a complete software device, by their names below `soft_cuda/`.
const std::vector<std::string>& SoftParts();

// Those of them that this folder of plugins lacks.
std::vector<std::string> MissingSoftParts(const std::string& plugin_folder);

// "libcublas.so.13, libcudnn.so.9 and 14 others"
std::string NameSome(const std::vector<std::string>& names);

// What brings the parts that a folder of plugins lacks: in a build tree the command that builds
// them, elsewhere another installation.
std::string HowToGetParts(const std::string& plugin_folder);

}  // namespace graphkit
