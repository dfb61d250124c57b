// Links in drawings.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// The template with {node}, {file} and {line} filled in, percent-encoded (RFC 3986) but for
// slashes; empty when the template asks for a file and the node has none.
std::string NodeLink(std::string_view link, const Trace& trace, NodeId node);

}  // namespace graphkit
