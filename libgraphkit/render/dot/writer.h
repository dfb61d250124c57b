// Writes the text of a drawing.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/render/dot/colours.h"
#include "libgraphkit/render/dot/dot.h"

namespace graphkit {

// All that a drawing is made of; refers to values of its caller.
struct Drawing {
  const Trace& trace;
  const FoldedGraphs& folded;
  const std::vector<bool>& graphs;  // by graph: whether it is drawn
  const DotOptions& options;
  std::vector<uint32_t> colour_keys;  // by node
};

// `legend` is an HTML-like label, in its angle brackets.
void WriteDot(const Drawing& drawing, const std::string& legend, std::ostream& out);

// What stands above a drawing.

// The program, the notes, and what the boxes and lines mean that occur: an HTML-like label.
std::string DotLegend(const Drawing& drawing, const std::vector<std::string>& notes);

}  // namespace graphkit
