// Where the plugins are: files in ../lib/graphkit, seen from the executable, in the build tree as
// in an installed one.
#pragma once

#include <string>

namespace graphkit {

// The folder of this executable; empty when the system doesn't tell.
std::string ExecutableFolder();

// The folder of the plugins, whether it exists or not.
std::string PluginFolder();

inline constexpr const char* kTracerPlugin = "libgraphkit_tracer.so";
inline constexpr const char* kExecutorPlugin = "libgraphkit_cuda_exec.so";
inline constexpr const char* kSoftDriver = "soft_cuda/libcuda.so.1";

}  // namespace graphkit
