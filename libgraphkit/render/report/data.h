// The data of the HTML report: the report as JSON, the names, and columns of numbers
// (docs/report.md).
#pragma once

#include <string>

#include "libgraphkit/render/report/html.h"

namespace graphkit {

// Packed (html.h): the JSON, the packed columns that it lists, uint32 length of the JSON
// (little-endian).
std::string PackDrawing(const ReportPage& page);

}  // namespace graphkit
