// Where the plugins are: files in ../lib/graphkit, seen from the executable, in the build tree as
// in an installed one.
#pragma once

#include <filesystem>
#include <string>

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

}  // namespace graphkit
