// Text from a trace is data: it may hold control characters, bytes that are no UTF-8, and be ten
// kilobytes long. These, and Printable, make it fit to be shown.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/printable.h"

namespace graphkit {

// Columns that valid UTF-8 takes: its code points (wide characters count as one).
size_t DisplayWidth(std::string_view text);

// At most `columns` wide: the middle gives way to "…". Expects valid UTF-8, never cuts a character.
std::string Ellipsize(std::string_view text, size_t columns);

// Printable text for an XML attribute or element, and for Graphviz' HTML-like labels.
std::string XmlText(std::string_view text);

// A path as a URI reference (RFC 3986): what isn't unreserved or "/" is percent-encoded.
std::string PathUri(std::string_view path);

}  // namespace graphkit
