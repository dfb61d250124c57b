// `graphkit plan trace.json --borrow`: what of the pools' memory is free between launches, and of a
// plan's arenas at a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libgraphkit/alloc/plan/capture_planner.h"
#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/cli/options.h"

namespace graphkit {

struct BorrowArguments {
  std::string file;
  std::string output;  // of the plan with its ranges; empty: none
  Format format = Format::kText;
  MarkerRule rule = MarkerRule::kLastUse;
  CapturePlannerOptions options;
  std::optional<uint32_t> at;  // a node
  size_t top = TextStyle{}.top;
};

// The exit code.
int ShowBorrow(const BorrowArguments& arguments);

}  // namespace graphkit
