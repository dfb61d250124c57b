// Differences between two traces: as JSON, as HTML, and as a person reads it:
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

#include <ostream>
#include <span>
#include <string>

#include "libgraphkit/analysis/explain/memory_account.h"
#include "libgraphkit/model/trace_diff.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/figure_text.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// One of the two traces, how the user named its file, and what TraceDiff::memory was made of.
struct DiffSide {
  const Ran& trace;
  std::string file;
  std::span<const MemoryAccount> memory = {};
};

void RenderDiffText(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    const TextOut& out);

// "graph 0 → graph 1"; one title where both are of one id.
std::string PairTitle(const Ran& before, const Ran& after, const GraphDiff& diff);

// "full", "programmatic, port 1", "port 2": what an edge orders.
std::string EdgeDataText(const Edge& edge);

// Schema "graphkit-diff", version 1 (docs/diff.md).
void RenderDiffJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out);

// The memory of both sides over events, each by PackDrawing (render/report/html.h); empty: it isn't
// compared.
struct DrawnSides {
  std::string before;
  std::string after;
};

// One HTML file that needs nothing else: the figures, the findings, the memory of both sides, and a
// drawing of what changed in each graph. Made as the page of render/report/html.h is.
void RenderDiffHtml(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    const DrawnSides& drawn, std::ostream& out);

// The part of a diff's text that is about memory:
//
//     peak reserved  13.2 GiB  →  9.80 GiB  −3.4 GiB
//     peak in use    13.0 GiB  →  9.61 GiB  −3.39 GiB
//     …
//     HELD AT THE PEAK              before     after     change
//       nn_utils.py:7  softmax    1.13 GiB       0 B  −1.13 GiB
//     …
//     WORTH A LOOK
//       + what only the run after has, - only the run before, ~ with other bytes

// "−3.39 GiB", "+512 B", "0 B".
std::string ChangeText(Bytes before, Bytes after);

// "nn_utils.py:7 → 9  softmax": who it is, and where the line was before.
std::string HolderChangeTitle(const HolderChange& change, const MemoryDiff& diff,
                              const DiffSide& before, const DiffSide& after);

// Nothing where one device is compared and equal.
void RenderMemoryDiff(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                      const TextOut& out);

}  // namespace graphkit
