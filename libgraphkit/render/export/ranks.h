// Many traces in one file of another tool: each trace's part, and what stands around the parts.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/export/export.h"
#include "libgraphkit/render/export/timeline.h"

namespace graphkit {

enum class ExportFormat : uint8_t { kPerfetto, kJson, kCsv };

struct ExportStyle {
  ExportFormat format = ExportFormat::kPerfetto;
  TimeAxis axis = TimeAxis::kOrder;   // perfetto
  CsvTable table = CsvTable::kNodes;  // csv
};

// One trace as a file of its own.
void RenderExport(const Trace& trace, const ExportStyle& style, std::ostream& out);

// One of many: `rank` is its place, `name` its file. As a process of its own (perfetto;
// pids are places, counted from 1), with its name (json), in the column "trace" (csv).
std::string ExportPart(const Trace& trace, std::string_view name, uint32_t rank,
                       const ExportStyle& style);

// What stands before part `rank`, and behind the last.
std::string_view ExportBefore(uint32_t rank, ExportFormat format);
std::string_view ExportEnd(ExportFormat format);

}  // namespace graphkit
