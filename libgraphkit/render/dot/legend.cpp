#include <map>

#include "libgraphkit/render/dot/style.h"
#include "libgraphkit/render/dot/writer.h"
#include "libgraphkit/render/printable.h"

namespace graphkit {

namespace {

constexpr size_t kLegendColumns = 6;

// One line of the legend's table.
std::string LegendRow(const std::string& content) {
  return "<tr><td align=\"left\">" + content + "</td></tr>";
}

std::string InColour(const std::string& content, const char* colour) {
  return std::string("<font color=\"") + colour + "\">" + content + "</font>";
}

// What the colours mean, some to a line.
std::string NodeLegend(const Drawing& drawing) {
  std::vector<uint32_t> keys;
  const ColourBy by = drawing.options.colour;
  for (const Box& box : drawing.folded.boxes) {
    if (by == ColourBy::kFinding || by == ColourBy::kDuration) {
      keys.push_back(KeyOfBox(box, drawing.colour_keys, by));
      continue;
    }
    for (const NodeId id : box.nodes) keys.push_back(drawing.colour_keys[id.index()]);
  }
  std::string rows, line;
  size_t shown = 0;
  const std::vector<ColourMeaning> meanings = ColourLegend(drawing.trace, keys, by);
  for (const ColourMeaning& meaning : meanings) {
    line += InColour("■", meaning.line) + " " + XmlText(meaning.text) + "   ";
    if (++shown % kLegendColumns != 0 && shown < meanings.size()) continue;
    rows += LegendRow(line);
    line.clear();
  }
  return rows;
}

// The kinds of edges that occur, a line each.
std::string EdgeLegend(const FoldedGraphs& folded) {
  std::map<std::pair<uint8_t, EdgeType>, const EdgeLook*> looks;
  for (const BoxEdge& edge : folded.edges) {
    looks[{edge.from_port, edge.type}] = &LookOf(edge.from_port, edge.type);
  }
  std::string rows;
  const EdgeLook* last = nullptr;
  for (const auto& [kind, look] : looks) {
    if (look != last) {
      rows += LegendRow(InColour(look->sample, look->colour) + "  " + XmlText(look->name));
    }
    last = look;
  }
  return rows;
}

}  // namespace

std::string DotLegend(const Drawing& drawing, const std::vector<std::string>& notes) {
  const std::string program = Ellipsize(Printable(drawing.trace.process.program), 80);
  std::string html = "<<table border=\"0\" cellborder=\"0\" cellspacing=\"1\" cellpadding=\"2\">";
  html += LegendRow("<b>" + XmlText(program.empty() ? "CUDA graphs" : program) + "</b>");
  for (const std::string& note : notes) html += LegendRow(InColour(XmlText(note), kPaleInk));
  return html + NodeLegend(drawing) + EdgeLegend(drawing.folded) + "</table>>";
}

}  // namespace graphkit
