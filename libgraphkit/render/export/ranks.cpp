#include <nlohmann/json.hpp>
#include <sstream>

#include "libgraphkit/render/export/export.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

Timeline RankTimeline(const Trace& trace, std::string_view name, uint32_t rank, TimeAxis axis) {
  Timeline timeline = MakeTimeline(trace, axis);
  timeline.process = Printable(name) + " " + timeline.process;
  timeline.pid = int64_t{rank} + 1;  // of several machines, some may have the same one
  return timeline;
}

// No field holds the end of a line.
std::string WithColumn(const std::string& table, std::string_view name, uint32_t rank) {
  std::string out;
  const std::string field = CsvField(name) + ",";
  size_t begin = 0;
  for (bool head = true; begin < table.size(); head = false) {
    const size_t end = table.find('\n', begin) + 1;
    if (!head) out += field;
    if (head && rank == 0) out += "trace,";
    if (!head || rank == 0) out.append(table, begin, end - begin);
    begin = end;
  }
  return out;
}

}  // namespace

void RenderExport(const Trace& trace, const ExportStyle& style, std::ostream& out) {
  switch (style.format) {
    case ExportFormat::kPerfetto:
      return RenderPerfetto(MakeTimeline(trace, style.axis), out);
    case ExportFormat::kJson:
      return RenderGraphsJson(trace, out);
    case ExportFormat::kCsv:
      return RenderCsv(trace, style.table, out);
  }
}

std::string ExportPart(const Trace& trace, std::string_view name, uint32_t rank,
                       const ExportStyle& style) {
  std::ostringstream out;
  switch (style.format) {
    case ExportFormat::kPerfetto:
      RenderPerfettoEvents(RankTimeline(trace, name, rank, style.axis), rank, out);
      break;
    case ExportFormat::kJson:
      out << "{\"trace\": " << nlohmann::json(Printable(name)).dump() << ", \"graphs\": ";
      RenderGraphsJson(trace, out);
      out << "}";
      break;
    case ExportFormat::kCsv:
      RenderCsv(trace, style.table, out);
      return WithColumn(out.str(), name, rank);
  }
  return std::move(out).str();
}

std::string_view ExportBefore(uint32_t rank, ExportFormat format) {
  if (format == ExportFormat::kPerfetto) return rank == 0 ? kPerfettoBegin : ",\n";
  if (format != ExportFormat::kJson) return "";
  return rank == 0 ? "{\"schema\": \"graphkit-graphs-of-ranks\", \"version\": 1, \"traces\": [\n"
                   : ",\n";
}

std::string_view ExportEnd(ExportFormat format) {
  if (format == ExportFormat::kPerfetto) return kPerfettoEnd;
  return format == ExportFormat::kJson ? "\n]}\n" : "";
}

}  // namespace graphkit
