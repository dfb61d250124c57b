#include "libgraphkit/render/dot/style.h"

#include <map>
#include <set>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {
namespace {

constexpr const char* kRound = "rounded,filled";
constexpr const char* kPlain = "filled";

// In the order of NodeKind; the last row is for kinds that aren't known.
constexpr std::array<NodeLook, kNodeKindCount + 1> kNodeLooks = {{
    {"box", kRound, "#e2ecf7", "#5b84b1"},       // kernel
    {"box", kPlain, "#e2f0e4", "#62996b"},       // memcpy
    {"box", kPlain, "#eef3dc", "#8f9f52"},       // memset
    {"note", kPlain, "#f5ecdb", "#ad8a50"},      // host
    {"folder", kPlain, "#ece5f5", "#8a73ae"},    // child graph
    {"ellipse", kPlain, "#f6f6f6", "#9aa2ab"},   // empty
    {"ellipse", kPlain, "#f7e6ee", "#b3708f"},   // event wait
    {"ellipse", kPlain, "#f7e6ee", "#b3708f"},   // event record
    {"ellipse", kPlain, "#e6e6f4", "#7d7db3"},   // semaphore signal
    {"ellipse", kPlain, "#e6e6f4", "#7d7db3"},   // semaphore wait
    {"cylinder", kPlain, "#fdf0d0", "#c2942c"},  // memory alloc
    {"cylinder", kPlain, "#fae3d7", "#c0714a"},  // memory free
    {"box", kPlain, "#e8eef0", "#6f8a94"},       // batch memory operation
    {"hexagon", kPlain, "#def0ef", "#4c9493"},   // conditional
    {"box", kPlain, "#ffffff", "#9aa2ab"},       // unknown
}};

constexpr EdgeLook kFull = {"full", "solid", "normal", "#4c5866", "———▸"};
constexpr EdgeLook kProgrammatic = {"programmatic: starts before the other ends", "dashed",
                                    "onormal", "#2f6fb2", "– – –▹"};
constexpr EdgeLook kLaunchCompletion = {"launch completion: starts when the other has begun",
                                        "dotted", "onormal", "#a0529c", "· · · ·▹"};

// Hues that stay apart for most kinds of colour vision, pale for the fill.
constexpr std::array<BoxColour, 8> kPalette = {{
    {"#dcebf7", "#3f7fb5"},  // blue
    {"#fdeacb", "#c08a1e"},  // amber
    {"#d9efe6", "#2f8f6b"},  // green
    {"#f6e0ea", "#b15f88"},  // rose
    {"#e6e3f3", "#7668ab"},  // violet
    {"#fadfd3", "#bf6436"},  // rust
    {"#e3eedb", "#6f9442"},  // leaf
    {"#dfe6ea", "#5d7682"},  // slate
}};
constexpr BoxColour kNothing = {"#ffffff", "#9aa2ab"};
constexpr std::array<BoxColour, 4> kSeverities = {{
    kNothing,
    {"#dcebf7", "#3f7fb5"},  // note
    {"#fdeacb", "#c08a1e"},  // warning
    {"#f9d9d6", "#b93a32"},  // error
}};

// How long nodes ran, in powers of ten: the longer the darker.
constexpr std::array<BoxColour, 6> kDurations = {{
    kNothing,
    {"#eef4fa", "#9db8d2"},
    {"#cfe0f0", "#7ba0c4"},
    {"#a5c5e3", "#4f82b3"},
    {"#f5c98a", "#c08a1e"},
    {"#eb9a72", "#a8481f"},
}};
constexpr std::array<const char*, 6> kDurationTexts = {
    "not measured", "below 1 µs", "1 to 10 µs", "10 to 100 µs", "0.1 to 1 ms", "1 ms and more"};

uint32_t DurationKey(const Node& node) {
  uint32_t key = node.duration_ns == 0 ? 0 : 1;
  for (uint64_t ns = node.duration_ns; ns >= 1000 && key + 1 < kDurations.size(); ns /= 10) ++key;
  return key;
}

// The pool of what the node allocates, frees or touches first.
uint32_t PoolKey(const Ran& trace, const Node& node) {
  BlockId block = node.block;
  if (!block && node.accesses.count > 0) block = trace.accesses[node.accesses.first].block;
  return block ? trace[block].pool.value : kNoKey;
}

void MarkFindings(const std::vector<Finding>& findings, std::vector<uint32_t>& keys) {
  const auto mark = [&keys](const std::vector<NodeId>& nodes, Severity severity) {
    for (const NodeId id : nodes) {
      uint32_t& key = keys[id.index()];
      key = std::max(key, 1 + static_cast<uint32_t>(severity));
    }
  };
  for (const Finding& finding : findings) {
    mark(finding.nodes, finding.severity);
    for (const Evidence& evidence : finding.evidence) mark(evidence.nodes, finding.severity);
  }
}

std::string MeaningOf(const Ran& trace, uint32_t key, ColourBy by) {
  switch (by) {
    case ColourBy::kType:
      return NodeKindName(static_cast<NodeKind>(key));
    case ColourBy::kStream:
      return StreamTitle(trace, StreamId(key));
    case ColourBy::kPool:
      return key == kNoKey ? "no memory known" : PoolTitle(trace, PoolId(key));
    case ColourBy::kDuration:
      return kDurationTexts[key];
    case ColourBy::kFinding:
      break;
  }
  return key == 0 ? "no finding" : SeverityName(static_cast<Severity>(key - 1));
}

constexpr size_t kLegendColumns = 6;

// One line of the legend's table.
std::string LegendRow(const std::string& content) {
  return "<tr><td align=\"left\">" + content + "</td></tr>";
}

std::string InColour(const std::string& content, const char* colour) {
  return std::string("<font color=\"") + colour + "\">" + content + "</font>";
}

// The meaning of the colours, some to a line.
std::string NodeLegend(const Drawing& drawing) {
  std::set<uint32_t> keys;  // that occur
  const ColourBy by = drawing.options.colour;
  for (const Box& box : drawing.folded.boxes) {
    if (by == ColourBy::kFinding || by == ColourBy::kDuration) {
      keys.insert(KeyOfBox(box, drawing.colour_keys, by));
      continue;
    }
    for (const NodeId id : box.nodes) keys.insert(drawing.colour_keys[id.index()]);
  }
  std::string rows, line;
  size_t shown = 0;
  for (const uint32_t key : keys) {
    line += InColour("■", ColourOfKey(key, by).line) + " " +
            XmlText(MeaningOf(drawing.trace, key, by)) + "   ";
    if (++shown % kLegendColumns != 0 && shown < keys.size()) continue;
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

const NodeLook& LookOf(NodeKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kNodeKindCount ? kNodeLooks[index] : kNodeLooks[kNodeKindCount];
}

const EdgeLook& LookOf(uint8_t from_port, EdgeType type) {
  if (from_port == kPortLaunchCompletion) return kLaunchCompletion;
  if (from_port == kPortDefault && type == EdgeType::kDefault) return kFull;
  return kProgrammatic;
}

std::string DotQuoted(std::string_view text) {
  return "\"" + Escaped(text, {{'"', "\\\""}, {'\\', "\\\\"}}) + "\"";
}

std::vector<uint32_t> ColourNodes(const Ran& trace, const DotOptions& options) {
  std::vector<uint32_t> keys(trace.nodes.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (options.colour == ColourBy::kType) keys[i] = static_cast<uint32_t>(node.kind);
    if (options.colour == ColourBy::kDuration) keys[i] = DurationKey(node);
    if (options.colour == ColourBy::kStream) keys[i] = node.stream.value;
    if (options.colour == ColourBy::kPool) keys[i] = PoolKey(trace, node);
  }
  if (options.colour == ColourBy::kFinding) MarkFindings(options.findings, keys);
  return keys;
}

uint32_t KeyOfBox(const Box& box, const std::vector<uint32_t>& keys, ColourBy by) {
  uint32_t key = keys[box.nodes.front().index()];
  if (by != ColourBy::kFinding && by != ColourBy::kDuration) return key;
  for (const NodeId id : box.nodes) key = std::max(key, keys[id.index()]);
  return key;
}

BoxColour ColourOfKey(uint32_t key, ColourBy by) {
  if (by == ColourBy::kType) {
    const NodeLook& look = LookOf(static_cast<NodeKind>(key));
    return {look.fill, look.line};
  }
  if (key == kNoKey) return kNothing;
  if (by == ColourBy::kDuration) return kDurations[key];
  return by == ColourBy::kFinding ? kSeverities[key] : kPalette[key % kPalette.size()];
}

std::string DotLegend(const Drawing& drawing, const std::vector<std::string>& notes) {
  const std::string program = Ellipsize(Printable(drawing.trace.process.program), 80);
  std::string html = "<<table border=\"0\" cellborder=\"0\" cellspacing=\"1\" cellpadding=\"2\">";
  html += LegendRow("<b>" + XmlText(program.empty() ? "CUDA graphs" : program) + "</b>");
  for (const std::string& note : notes) html += LegendRow(InColour(XmlText(note), kPaleInk));
  return html + NodeLegend(drawing) + EdgeLegend(drawing.folded) + "</table>>";
}

}  // namespace graphkit
