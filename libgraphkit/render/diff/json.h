// What differs between two traces as JSON, schema "graphkit-diff", version 1 (docs/diff.md).
#pragma once

#include <ostream>

#include "libgraphkit/render/diff/text.h"

namespace graphkit {

void RenderDiffJson(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                    std::ostream& out);

}  // namespace graphkit
