// A trace's columns as CSV (RFC 4180, but lines end with LF), for spreadsheets and data frames.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class CsvTable : uint8_t { kNodes, kEdges, kBlocks, kLaunches, kExecNodes };

// The first line names the columns. What isn't there is empty.
void RenderCsv(const Trace& trace, CsvTable table, std::ostream& out);

// A field: quoted where it must be. One that a spreadsheet would take for a formula is made text by
// a leading apostrophe (OWASP, "CSV Injection").
std::string CsvField(std::string_view text);

}  // namespace graphkit
