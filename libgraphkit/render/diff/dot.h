// What differs between two traces as DOT: a cluster for each graph that differs, with what changed
// and what is next to it. Told without colours: removed is dashed, added bold, the same pale.
#pragma once

#include <ostream>

#include "libgraphkit/render/diff/text.h"

namespace graphkit {

void RenderDiffDot(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                   std::ostream& out);

}  // namespace graphkit
