// What differs between two traces as one HTML file that needs nothing else: the figures, the
// findings, and a drawing of what changed in each graph. Made as report_html.h's page is.
#pragma once

#include <ostream>

#include "libgraphkit/render/diff/text.h"

namespace graphkit {

void RenderDiffHtml(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out);

}  // namespace graphkit
