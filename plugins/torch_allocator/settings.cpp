#include "plugins/torch_allocator/settings.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace graphkit::torch {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The program may change its folder.
std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  return path.empty() || path == "-" || error ? path : absolute;
}

}  // namespace

Settings SettingsFromEnvironment() {
  return {
      .plan = Variable("GRAPHKIT_PLAN"),
      .trust_plan = Variable("GRAPHKIT_ASSUME") == "arguments",
      .edges = Variable("GRAPHKIT_EDGES") == "pytorch" ? EdgeRule::kAllFull : EdgeRule::kCompletion,
      .report = Absolute(Variable("GRAPHKIT_ALLOCATOR_REPORT"))};
}

}  // namespace graphkit::torch
