#include <array>
#include <initializer_list>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/model/tool_ids.h"
#include "libgraphkit/render/text_layout.h"
#include "tools/graphkit/export/export.h"

namespace graphkit {

namespace {

template <typename Tag>
std::string IdField(Id<Tag> id) {
  return id ? std::to_string(id.value) : "";
}

std::string SeqField(Seq seq) { return seq == kNever ? "" : std::to_string(seq); }

void CsvRow(std::initializer_list<std::string> fields, std::ostream& out) {
  bool first = true;
  for (const std::string& field : fields) {
    if (!first) out << ",";
    first = false;
    out << field;
  }
  out << "\n";
}

std::string NumberField(uint64_t number) { return number == 0 ? "" : std::to_string(number); }

void Nodes(const Ran& trace, std::ostream& out) {
  CsvRow({"node", "graph", "kind", "name", "stream", "seq", "destroyed", "grid", "block_size",
          "shared_bytes", "block", "duration_ns", "source", "tool_id"},
         out);
  const std::vector<uint64_t> tool_ids = OwnToolIds(trace);
  for (const auto& [i, node] : Enumerate(trace.nodes)) {
    const bool shaped = node.shape < trace.shapes.size();
    const LaunchShape shape = shaped ? trace.shapes[node.shape] : LaunchShape();
    const std::string name = node.kernel ? Demangle(trace[trace[node.kernel].name]) : "";
    CsvRow({std::to_string(i), IdField(node.graph), NodeKindName(node.kind), CsvField(name),
            IdField(node.stream), SeqField(node.seq), SeqField(node.destroyed),
            shaped ? SizesText(shape.grid) : "", shaped ? SizesText(shape.block) : "",
            shaped ? std::to_string(shape.shared_bytes) : "", IdField(node.block),
            NumberField(uint64_t{node.duration_ns}), CsvField(StackTitle(trace, node.stack)),
            NumberField(tool_ids[i])},
           out);
  }
}

void Edges(const Ran& trace, std::ostream& out) {
  CsvRow({"edge", "graph", "from", "to", "from_port", "to_port", "edge_type", "seq", "removed"},
         out);
  for (const auto& [i, edge] : Enumerate(trace.edges)) {
    CsvRow(
        {std::to_string(i), IdField(trace[edge.from].graph), IdField(edge.from), IdField(edge.to),
         std::to_string(edge.from_port), std::to_string(edge.to_port),
         std::to_string(static_cast<int>(edge.type)), SeqField(edge.seq), SeqField(edge.removed)},
        out);
  }
}

void Blocks(const Ran& trace, std::ostream& out) {
  CsvRow({"block", "address", "size", "pool", "segment", "stream", "graph", "allocated",
          "free_requested", "free_completed", "free_stream", "source"},
         out);
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    CsvRow(
        {std::to_string(i), HexText(block.address), std::to_string(block.size), IdField(block.pool),
         IdField(block.segment), IdField(block.stream), IdField(block.graph),
         SeqField(block.allocated), SeqField(block.free_requested), SeqField(block.free_completed),
         IdField(block.free_stream), CsvField(StackTitle(trace, block.stack))},
        out);
  }
}

void ExecNodes(const Ran& trace, std::ostream& out) {
  CsvRow({"exec", "graph", "node", "tool_id", "exec_tool_id", "recorded"}, out);
  const ExecToolIds tool_ids(trace);
  for (const auto& [i, exec] : Enumerate(trace.execs)) {
    const std::string recorded = exec.node_ids.count != 0 ? "1" : "0";
    for (const ToolIdRun& run : tool_ids.Of(ExecId(i))) {
      for (uint32_t j = 0; j < run.count; ++j) {
        CsvRow({std::to_string(i), IdField(exec.graph), std::to_string(run.first.value + j),
                std::to_string(run.tool_id + j), NumberField(exec.tool_id), recorded},
               out);
      }
    }
  }
}

void LaunchRows(const Ran& trace, std::ostream& out) {
  CsvRow({"launch", "exec", "graph", "stream", "seq", "exec_tool_id", "correlation"}, out);
  for (const auto& [i, launch] : Enumerate(trace.launches)) {
    const GraphId graph = launch.exec ? trace[launch.exec].graph : GraphId();
    const uint64_t tool_id = launch.exec ? trace[launch.exec].tool_id : 0;
    CsvRow({std::to_string(i), IdField(launch.exec), IdField(graph), IdField(launch.stream),
            SeqField(launch.seq), NumberField(tool_id), NumberField(launch.correlation)},
           out);
  }
}

}  // namespace

std::string CsvField(std::string_view text) {
  std::string field = Printable(text);
  if (!field.empty() && std::string_view("=+-@").find(field[0]) != std::string_view::npos) {
    field.insert(0, 1, '\'');
  }
  if (field.find_first_of(",\"") == std::string::npos) return field;
  return "\"" + Escaped(field, {{'"', "\"\""}}) + "\"";
}

void RenderCsv(const Ran& trace, CsvTable table, std::ostream& out) {
  static constexpr std::array kTables = {Nodes, Edges, Blocks, LaunchRows, ExecNodes};
  kTables[static_cast<size_t>(table)](trace, out);
}

}  // namespace graphkit
