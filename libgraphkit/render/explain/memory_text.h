// The parts of an explanation that are about memory.
#pragma once

#include <ostream>

#include "libgraphkit/render/explain/explain.h"

namespace graphkit {

// How much was reserved and in use, and who held it; nothing where there is no memory.
void RenderMemory(const Explanation& explanation, const Trace& trace, const ExplainStyle& style,
                  std::ostream& out);
// "event 1,402, at nn_utils.py:13 softmax": when the peak in use was.
std::string PeakText(const Trace& trace, const MemoryAccount& account);
// "nn_utils.py:7  softmax": who a holder is, printable.
std::string HolderTitle(const Trace& trace, const MemoryAccount& account, const HeldGroup& group);
// What is worth a look.
void RenderRemarks(const Explanation& explanation, const TextStyle& style, std::ostream& out);

}  // namespace graphkit
