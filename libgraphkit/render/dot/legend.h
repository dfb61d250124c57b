// What stands above a drawing.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/render/dot/writer.h"

namespace graphkit {

// The program, the notes, and what the boxes and lines mean that occur: an HTML-like label.
std::string DotLegend(const Drawing& drawing, const std::vector<std::string>& notes);

}  // namespace graphkit
