// The gate's verdict as JUnit XML: one suite for each trace; in it a test case for completeness,
// for each check, for each figure that has a limit. Elements and attributes are those that Jenkins
// and GitLab read.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/gate.h"

namespace graphkit {

void RenderJunit(const GateRun& run, std::ostream& out);

// Text for an XML attribute or element: escaped, and without what XML 1.0 forbids.
std::string XmlText(std::string_view text);

}  // namespace graphkit
