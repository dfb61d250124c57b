#include "libgraphkit/render/dot/labels.h"

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/render/dot/style.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {
namespace {

constexpr size_t kTitleColumns = 32;
constexpr size_t kTipColumns = 400;
constexpr uint32_t kShownAccesses = 6;

// "64", "64×2": trailing ones left out.
std::string Dimensions(const uint32_t (&size)[3]) {
  std::string text = std::to_string(size[0]);
  if (size[1] > 1 || size[2] > 1) text += "×" + std::to_string(size[1]);
  if (size[2] > 1) text += "×" + std::to_string(size[2]);
  return text;
}

std::string ShapeText(const LaunchShape& shape) {
  std::string text = Dimensions(shape.grid) +
                     (Dimensions(shape.grid) == "1" ? " block" : " blocks") + " of " +
                     Dimensions(shape.block);
  if (shape.shared_bytes > 0) text += ", " + FormatBytes(shape.shared_bytes) + " shared";
  return text;
}

std::string KindCounts(const Ran& trace, const Box& box) {
  std::array<uint64_t, kNodeKindCount + 1> counts{};
  for (const NodeId id : box.nodes) {
    ++counts[std::min<size_t>(static_cast<size_t>(trace[id].kind), kNodeKindCount)];
  }
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + FormatCount(counts[i]) + " " +
            NodeKindName(static_cast<NodeKind>(i));
  }
  return text;
}

// "2 parameters: 8 B, 4 B".
std::string ParamsText(const Ran& trace, NodeId id) {
  const Node& node = trace[id];
  if (!node.kernel) return "";
  const Kernel& kernel = trace[node.kernel];
  if (!kernel.has_layout) return "parameters unknown";
  std::string sizes;
  for (uint32_t i = 0; i < std::min(kernel.params.count, kShownAccesses); ++i) {
    sizes +=
        (i == 0 ? ": " : ", ") + FormatBytes(trace.kernel_params[kernel.params.first + i].size);
  }
  if (kernel.params.count > kShownAccesses) sizes += ", …";
  return Counted(kernel.params.count, "parameter") + sizes;
}

// "reads block 1, writes block 2": what the node touches.
std::string MemoryText(const Ran& trace, NodeId id) {
  static constexpr std::array<const char*, 4> kVerbs = {"touches", "reads", "writes", "updates"};
  const Slice accesses = trace[id].accesses;
  std::string text;
  for (uint32_t i = 0; i < std::min(accesses.count, kShownAccesses); ++i) {
    const Access& access = trace.accesses[accesses.first + i];
    text += (i == 0 ? "" : ", ") + std::string(kVerbs[static_cast<size_t>(access.mode)]) +
            " block " + std::to_string(access.block.value);
  }
  if (accesses.count > kShownAccesses) {
    text += ", +" + std::to_string(accesses.count - kShownAccesses);
  }
  return text;
}

void AddUnlessEmpty(std::string text, std::vector<std::string>& lines) {
  if (!text.empty()) lines.push_back(std::move(text));
}

// Of the NVTX range that a box is for.
std::string RangeName(const Ran& trace, const Box& box) {
  if (box.range == kNoRange) return "";
  return Ellipsize(Printable(trace[trace.nvtx_ranges[box.range].name]), kTitleColumns);
}

std::string NodeTip(const Ran& trace, NodeId id) {
  const Node& node = trace[id];
  std::string tip = "node " + std::to_string(id.value) + ", " + NodeKindName(node.kind);
  if (node.kernel) tip += ": " + Ellipsize(Demangle(trace[trace[node.kernel].name]), kTipColumns);
  for (const NodeLabel& label : RowsAt(trace.node_labels, node.seq))
    tip += "; " + Ellipsize(Printable(trace[label.text]), kTipColumns);
  const std::string detail = NodeDetail(trace, id);
  if (!detail.empty()) tip += "; " + detail;
  const std::string at = StackTitle(trace, node.stack);
  return at.empty() ? tip : tip + "; " + Ellipsize(at, kTipColumns);
}

// The reason why an edge that waits for no end brings nothing: "no trigger", "no wait".
std::string MissingText(const Ran& trace, const Edge& edge) {
  if (edge.full()) return "";
  const EarlyStart start = EarlyStartOf(trace, edge);
  const std::string wait = start.waits == Ternary::kNo ? "no wait" : "";
  if (!start.at_end()) return wait;
  return "no trigger" + (wait.empty() ? "" : ", " + wait);
}

// Where the program's own code stands, else the innermost frame whose line is known; null: none.
const StackFrame* SourceOf(const Ran& trace, NodeId node) {
  const StackId stack = trace[node].stack;
  if (!stack) return nullptr;
  const CallSite site = CallSiteOf(trace, stack);
  if (site.own && trace.stack_frames[*site.own].line != 0) return &trace.stack_frames[*site.own];
  for (const StackFrame& frame : StackFrames(trace, stack)) {
    if (frame.line != 0) return &frame;
  }
  return nullptr;
}

void Replace(std::string& text, std::string_view what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

// URLs of users stand in attributes of SVG as they are: Graphviz escapes none.
std::string ForAttribute(std::string_view url) {
  std::string escaped;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    const bool special =
        byte <= 0x20 || byte >= 0x7f || c == '"' || c == '\'' || c == '<' || c == '>';
    if (c == '&') {
      escaped += "&amp;";
    } else if (special) {
      escaped += PathUri(std::string_view(&c, 1));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string NodeDetail(const Ran& trace, NodeId id) {
  const Node& node = trace[id];
  if (std::string text = CollectivesText(trace, node.seq); !text.empty()) return text;
  if (node.shape < trace.shapes.size()) return ShapeText(trace.shapes[node.shape]);
  if (node.block) {
    return "block " + std::to_string(node.block.value) + ", " + FormatBytes(trace[node.block].size);
  }
  if (node.event) return "event " + std::to_string(node.event.value);
  if (node.kind == NodeKind::kMemcpy || node.kind == NodeKind::kMemset) {
    const Bytes bytes = CopiedBytes(trace, node.accesses);
    return bytes == 0 ? "" : FormatBytes(bytes);
  }
  const bool known = node.conditional != ConditionalType::kUnknown;
  return node.kind == NodeKind::kConditional && known ? std::string(NameOf(node.conditional)) : "";
}

std::string TitleLabel(const std::string& title, const std::vector<std::string>& details,
                       const char* align) {
  const std::string cell = "<tr><td align=\"" + std::string(align) + "\">";
  std::string label = "<<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"1\">";
  if (!title.empty()) label += cell + XmlText(title) + "</td></tr>";
  for (const std::string& detail : details) {
    label += cell + "<font point-size=\"9\" color=\"" + kPaleInk + "\">" + XmlText(detail) +
             "</font></td></tr>";
  }
  return label + "</table>>";
}

std::string BoxLabel(const Ran& trace, const Box& box, const DotDetails& details,
                     const NodeChanges& changes) {
  const NodeId first = box.nodes.front(), last = box.nodes.back();
  if (box.nodes.size() > 1) {
    const std::string ends = NodeTitle(trace, first, kTitleColumns / 2) + " … " +
                             NodeTitle(trace, last, kTitleColumns / 2);
    const std::string range = RangeName(trace, box);
    if (!range.empty()) {
      return TitleLabel(range, {Counted(box.nodes.size(), "node") + ": " + KindCounts(trace, box)});
    }
    return TitleLabel(Counted(box.nodes.size(), "node"), {KindCounts(trace, box) + " · " + ends});
  }
  const std::string detail = NodeDetail(trace, first);
  std::vector<std::string> lines = {"#" + std::to_string(first.value) +
                                    (detail.empty() ? "" : " · " + detail)};
  AddUnlessEmpty(changes.Text(first), lines);
  if (details.params) AddUnlessEmpty(ParamsText(trace, first), lines);
  if (details.memory) AddUnlessEmpty(MemoryText(trace, first), lines);
  return TitleLabel(NodeTitle(trace, first, kTitleColumns), lines);
}

std::string EdgeLabel(const Ran& trace, const BoxEdge& edge, const DotDetails& details) {
  const Edge& first = trace[edge.first];
  const std::string missing = edge.count > 1 ? "" : MissingText(trace, first);
  if (!details.edges) return edge.count > 1 ? std::to_string(edge.count) : missing;
  std::string label = "edge " + std::to_string(edge.first.value);
  if (!first.full()) {
    label += ", port " + std::to_string(first.from_port) + "→" + std::to_string(first.to_port);
  }
  if (!missing.empty()) label += ", " + missing;
  return edge.count > 1 ? label + ", +" + std::to_string(edge.count - 1) : label;
}

std::string BoxTip(const Ran& trace, const Box& box) {
  if (box.nodes.size() == 1) return NodeTip(trace, box.nodes.front());
  return Counted(box.nodes.size(), "node") + ": from " + NodeTip(trace, box.nodes.front()) +
         " to " + NodeTip(trace, box.nodes.back());
}

std::string EdgeTip(const Ran& trace, const BoxEdge& edge) {
  const Edge& first = trace[edge.first];
  std::string tip = "node " + std::to_string(first.from.value) + " → node " +
                    std::to_string(first.to.value) + ", " + LookOf(edge.from_port, edge.type).name;
  const EarlyStart start = first.full() ? EarlyStart() : EarlyStartOf(trace, first);
  if (start != EarlyStart()) {
    tip += "; " + EarlyStartText(start, "the producer", "the consumer");
  }
  if (edge.count > 1) tip += "; and " + Counted(edge.count - 1, "edge") + " more";
  return tip;
}

std::string NodeLink(std::string_view link, const Ran& trace, NodeId node) {
  std::string url(link);
  const StackFrame* source = SourceOf(trace, node);
  if (source == nullptr && url.find("{file}") != std::string::npos) return "";
  Replace(url, "{node}", std::to_string(node.value));
  Replace(url, "{line}", source == nullptr ? "" : std::to_string(source->line));
  if (source != nullptr) Replace(url, "{file}", PathUri(trace[source->file]));
  return ForAttribute(url);
}

}  // namespace graphkit
