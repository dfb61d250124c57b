// Differences between two traces, as a person reads them:
//
//     before: a.json, after: b.json
//
//       peak in use  13.0 GiB  →  9.61 GiB  −3.39 GiB        memory_text.cpp
//       …
//
//     graph 0 "step": 12 nodes matched, 1 removed, 1 edge gained
//       - node 7 kernel scale on stream 2
//       + edge node 3 kernel add → node 9 kernel mul
//       deferred_bytes  1 MiB → 2 MiB
//     …
//     different: memory differs, 0 of 1 graph equal
#pragma once

#include <string>

#include "libgraphkit/model/trace_diff.h"
#include "libgraphkit/render/diff/diff_side.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderDiffText(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    const TextOut& out);

// "graph 0 → graph 1"; one title where both are of one id.
std::string PairTitle(const Ran& before, const Ran& after, const GraphDiff& diff);

// "full", "programmatic, port 1", "port 2": what an edge orders.
std::string EdgeDataText(const Edge& edge);

}  // namespace graphkit
