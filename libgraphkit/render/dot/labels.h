// Texts in the boxes of a drawing, in the tips over them, and in its links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/ran/node_changes.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/dot/dot.h"

namespace graphkit {

// HTML-like labels, in their angle brackets: a title, which may be empty, and pale lines below it.
// `align`: "center" or "left".
std::string BoxLabel(const Ran& trace, const Box& box, const DotDetails& details,
                     const NodeChanges& changes);
std::string TitleLabel(const std::string& title, const std::vector<std::string>& details,
                       const char* align = "center");

// Plain text; of an edge's label nothing when there is nothing to say.
std::string EdgeLabel(const Ran& trace, const BoxEdge& edge, const DotDetails& details);
std::string BoxTip(const Ran& trace, const Box& box);
std::string EdgeTip(const Ran& trace, const BoxEdge& edge);

// "64×2 blocks of 256"; of a memcpy "1 MiB"; of a memory node "block 3, 4 MiB".
std::string NodeDetail(const Ran& trace, NodeId id);

// The template with {node}, {file} and {line} filled in, percent-encoded (RFC 3986) but for
// slashes; empty when the template asks for a file and the node has none.
std::string NodeLink(std::string_view link, const Ran& trace, NodeId node);

}  // namespace graphkit
