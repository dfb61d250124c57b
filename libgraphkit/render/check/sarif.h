// The gate's verdict as SARIF 2.1.0 (OASIS, 27 March 2020), for code scanning services. A result
// lies at its source frame where there is one, and at a logical location of the trace otherwise.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"

namespace graphkit {

// `version` is graphkit's.
void RenderSarif(const GateRun& run, std::string_view version, std::ostream& out);

// A path as a URI reference (RFC 3986): what isn't unreserved or "/" is percent-encoded.
std::string PathUri(std::string_view path);

}  // namespace graphkit
