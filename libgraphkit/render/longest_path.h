// The path that a drawing shows with thick lines.
#pragma once

#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// The longest path through the selected nodes: by measured durations where all kernels among them
// have one, otherwise by the number of nodes. Of equally long ones the one of the smallest ids,
// seen from its end. Empty when nothing is selected.
std::vector<NodeId> LongestPath(const Trace& trace, const std::vector<bool>& nodes);

// That of each graph, all of its nodes selected; nodes of embedded graphs are in none but their
// own.
std::vector<std::vector<NodeId>> LongestPaths(const Trace& trace);

}  // namespace graphkit
