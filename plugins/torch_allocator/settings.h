// The allocator's settings in the environment, read once.
#pragma once

#include <string>

#include "libgraphkit/analysis/order/order.h"

namespace graphkit::torch {

struct Settings {
  std::string plan;                        // GRAPHKIT_PLAN: a file; empty: none
  bool trust_plan = false;                 // GRAPHKIT_ASSUME=arguments
  EdgeRule edges = EdgeRule::kCompletion;  // GRAPHKIT_EDGES=pytorch: kAllFull
  std::string report;                      // GRAPHKIT_ALLOCATOR_REPORT: a file; empty: none
};

Settings SettingsFromEnvironment();

}  // namespace graphkit::torch
