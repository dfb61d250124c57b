// Shared by eager-use-of-graph-memory and pool-clobbered-workspace: one finding for each graph
// that writes over what is used outside of graphs, and each kernel that finds it so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches/graph_writes.h"

namespace graphkit {

// `describe` fills in severity, message and advice by the first of the findings' overwrites. It
// returns false for one that isn't its own.
using DescribeOverwrite = std::function<bool(const Overwrite&, Finding*)>;
std::vector<Finding> FindOverwritten(const Facts& facts, const DescribeOverwrite& describe);

// "launch 3 of graph 0 on stream 1".
std::string LaunchText(const Trace& trace, const Overwrite& overwrite);

// "Reduce", of work in Trace::works.
std::string WorkText(const Trace& trace, uint32_t work);

}  // namespace graphkit
