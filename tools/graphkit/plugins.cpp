#include "tools/graphkit/plugins.h"

#include <filesystem>

namespace graphkit {

std::string ExecutableFolder() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : path.parent_path().string();
}

std::string PluginFolder() {
  return (std::filesystem::path(ExecutableFolder()) / "../lib/graphkit")
      .lexically_normal()
      .string();
}

}  // namespace graphkit
