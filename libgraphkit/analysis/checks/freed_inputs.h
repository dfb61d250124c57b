// Shared by dead-input and stale-host-memory: launches of graphs whose inputs were freed.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

// Inputs that were freed and are no other block's by now: memory of the host, or not.
// `of`: "memory", as the findings call it.
struct FreedInputs {
  bool host = false;
  const char* of = "";
  const char* advice = "";
};
std::vector<Finding> FindFreedInputs(const Facts& facts, const FreedInputs& which);

}  // namespace graphkit
