// Turning DOT into a picture, with Graphviz.
#pragma once

#include <string>

#include "libgraphkit/result.h"

namespace graphkit {

// The picture in `format` ("svg", "png", …: any that Graphviz has) as bytes. Layout runs in a
// process of its own, so that a crash of Graphviz is an error and not ours.
Result<std::string> Draw(const std::string& dot, const std::string& format);

}  // namespace graphkit
