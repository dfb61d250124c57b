// Memory of graphs of some sizes: text for people, JSON for programs (schema
// "graphkit-estimate", version 1; docs/estimate.md).
#pragma once

#include <ostream>

#include "libgraphkit/model/estimate.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderEstimate(const MemoryEstimate& estimate, const TextOut& out);
void RenderEstimateJson(const MemoryEstimate& estimate, std::ostream& out);

}  // namespace graphkit
