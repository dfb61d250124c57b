// Text from a trace in XML and in links.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/printable.h"

namespace graphkit {

// Printable text for an XML attribute or element, and for Graphviz' HTML-like labels.
std::string XmlText(std::string_view text);

// A path as a URI reference (RFC 3986): what isn't unreserved or "/" is percent-encoded.
std::string PathUri(std::string_view path);

}  // namespace graphkit
