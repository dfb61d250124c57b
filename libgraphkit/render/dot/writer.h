// Writes the text of a drawing.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/render/dot/drawing.h"

namespace graphkit {

// `legend` is an HTML-like label, in its angle brackets.
void WriteDot(const Drawing& drawing, const std::string& legend, std::ostream& out);

}  // namespace graphkit
