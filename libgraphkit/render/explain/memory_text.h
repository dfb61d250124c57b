// The parts of an explanation that are about memory.
#pragma once

#include <ostream>

#include "libgraphkit/render/explain/explain.h"

namespace graphkit {

// How much was reserved and in use, and who held it; nothing where there is no memory.
void RenderMemory(const Explanation& explanation, const Trace& trace, const ExplainStyle& style,
                  std::ostream& out);
// What is worth a look.
void RenderRemarks(const Explanation& explanation, const TextStyle& style, std::ostream& out);

}  // namespace graphkit
