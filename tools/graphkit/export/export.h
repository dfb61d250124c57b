// A trace in formats of other tools: graphs as JSON, columns as CSV, a timeline as Trace Event
// JSON.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// A trace's graphs as plain JSON, schema "graphkit-graphs", version 1 (docs/import.md): each with
// its nodes and edges, so that a graph library reads it without knowing the trace format.

// Nodes and edges that were taken out of their graph are left out.
void RenderGraphsJson(const Ran& trace, std::ostream& out);

// A trace's columns as CSV (RFC 4180, but lines end with LF), for spreadsheets and data frames.
enum class CsvTable : uint8_t { kNodes, kEdges, kBlocks, kLaunches, kExecNodes };

// The first line names the columns. What isn't there is empty.
void RenderCsv(const Ran& trace, CsvTable table, std::ostream& out);

// A field: quoted where it must be. One that a spreadsheet would take for a formula is made text by
// a leading apostrophe (OWASP, "CSV Injection").
std::string CsvField(std::string_view text);

// The axis of a timeline.
enum class TimeAxis : uint8_t { kOrder, kHost };

// A trace as a process of a timeline.
struct ExportProcess {
  std::string name;
  int64_t pid = 0;
  uint64_t rank = 0;  // keeps flows of several apart
};

// A trace as events of Trace Event JSON, for ui.perfetto.dev, trace_processor and chrome://tracing,
// with ",\n" between them.
void RenderTraceEvents(const Ran& trace, TimeAxis axis, const ExportProcess& process,
                       std::ostream& out);

// Many traces in one file of another tool: each trace's part, and what stands around the parts.

enum class ExportFormat : uint8_t { kPerfetto, kJson, kCsv };

struct ExportStyle {
  ExportFormat format = ExportFormat::kPerfetto;
  TimeAxis axis = TimeAxis::kOrder;   // perfetto
  CsvTable table = CsvTable::kNodes;  // csv
};

// One trace as a file of its own.
void RenderExport(const Ran& trace, const ExportStyle& style, std::ostream& out);

// One of many: `rank` is its place, `name` its file. As a process of its own (perfetto;
// pids are places, counted from 1), with its name (json), in the column "trace" (csv).
std::string ExportPart(const Ran& trace, std::string_view name, uint32_t rank,
                       const ExportStyle& style);

// The text before part `rank`, and behind the last.
std::string_view ExportBefore(uint32_t rank, ExportFormat format);
std::string_view ExportEnd(ExportFormat format);

}  // namespace graphkit
