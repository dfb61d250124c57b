// Differences between two traces as JSON.
#pragma once

#include <ostream>

#include "libgraphkit/model/trace_diff.h"
#include "libgraphkit/render/diff/diff_side.h"

namespace graphkit {

// Schema "graphkit-diff", version 1 (docs/diff.md).
void RenderDiffJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out);

}  // namespace graphkit
