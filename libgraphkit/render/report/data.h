// What the HTML report draws, packed: the report as JSON, the names, and columns of numbers
// (docs/report.md).
#pragma once

#include <string>

#include "libgraphkit/render/report/html.h"

namespace graphkit {

// uint32 length of the JSON (little-endian), the JSON, then the packed columns that it lists.
std::string ReportData(const ReportPage& page);

}  // namespace graphkit
