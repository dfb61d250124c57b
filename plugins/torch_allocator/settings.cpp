#include "plugins/torch_allocator/settings.h"

#include <cstdlib>
#include <string_view>

namespace graphkit::torch {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Settings SettingsFromEnvironment() {
  return {
      .plan = Variable("GRAPHKIT_PLAN"),
      .trust_plan = Variable("GRAPHKIT_ASSUME") == "arguments",
      .edges = Variable("GRAPHKIT_EDGES") == "pytorch" ? EdgeRule::kAllFull : EdgeRule::kCompletion,
      .report = Variable("GRAPHKIT_ALLOCATOR_REPORT")};
}

}  // namespace graphkit::torch
