// What stands in the boxes of a drawing, and in the tips over them.
#pragma once

#include <string>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/fold.h"

namespace graphkit {

// HTML-like labels, in their angle brackets: a title and a pale second line, either may be empty
// but not both. `align`: "center" or "left".
std::string BoxLabel(const Trace& trace, const Box& box);
std::string TitleLabel(const std::string& title, const std::string& detail,
                       const char* align = "center");

// Plain text.
std::string BoxTip(const Trace& trace, const Box& box);
std::string EdgeTip(const Trace& trace, const BoxEdge& edge);

// "64×2 blocks of 256"; of a memcpy "1 MiB"; of a memory node "block 3, 4 MiB".
std::string NodeDetail(const Trace& trace, NodeId id);

}  // namespace graphkit
