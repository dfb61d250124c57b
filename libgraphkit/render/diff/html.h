// Differences between two traces as a page.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/model/trace_diff.h"
#include "libgraphkit/render/diff/diff_side.h"

namespace graphkit {

// The memory of both sides over events, each by PackDrawing (render/report/data.h); empty: it isn't
// compared.
struct DrawnSides {
  std::string before;
  std::string after;
};

// One HTML file that needs nothing else: the figures, the findings, the memory of both sides, and a
// drawing of what changed in each graph. Made as the page of render/report/html.h is.
void RenderDiffHtml(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    const DrawnSides& drawn, std::ostream& out);

}  // namespace graphkit
