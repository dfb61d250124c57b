// Reads a node's label. With the flag for its kind, or verbose, it is a record,
//
//     {KERNEL
//     | {ID | 3 (topoId: 1) | _Z3addPf\<\<\<\{16,2,1\},128,0\>\>\>}
//     | {{node handle | func handle} | {0x… | 0x…}} …
//
// else lines. The first is the node's number; the second the name of the kernel or of the graph
// that the node holds, and for other kinds the kind:
//
//     "graph_1_node_0"[style="bold" shape="octagon" label="0      "…"[… shape="rectangle" label="4
//     _Z3addPf                                                    graph_2
//     "];                                                         "];
//
// Only kernels are drawn bold, and as octagons.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "libgraphkit/io/import/dot_graph.h"

namespace graphkit {
namespace {

// Kinds that have a shape of their own where no word gives the kind: as ROCm draws them, which
// follows CUDA's drawings.
constexpr std::pair<std::string_view, NodeKind> kShapes[] = {
    {"octagon", NodeKind::kKernel},
    {"trapezium", NodeKind::kMemcpy},
    {"invtrapezium", NodeKind::kMemset},
};

std::string Trimmed(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

// The fields of a record, or the lines of a text, without what separates them.
std::vector<std::string> Fields(std::string_view label, bool record) {
  std::vector<std::string> fields;
  std::string field;
  const auto end = [&] {
    field = Trimmed(field);
    if (!field.empty()) fields.push_back(field);
    field.clear();
  };
  for (size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    if (c == '\\' && i + 1 < label.size()) {
      const char escaped = label[++i];
      if (escaped == 'n' || escaped == 'l' || escaped == 'r') {
        end();
      } else {
        field += escaped;
      }
    } else if (c == '\n' || (record && (c == '|' || c == '{' || c == '}'))) {
      end();
    } else {
      field += c;
    }
  }
  end();
  return fields;
}

ConditionalType TypeOfConditional(const std::vector<std::string>& fields) {
  for (const std::string& field : fields) {
    const std::string word = WordOf(field);
    if (word == "IF") return ConditionalType::kIf;
    if (word == "WHILE") return ConditionalType::kWhile;
    if (word == "SWITCH") return ConditionalType::kSwitch;
  }
  return ConditionalType::kUnknown;
}

// Up to three numbers: "128", "{16,2,1}"; what is missing stays.
void ReadDimensions(std::string_view& text, uint32_t out[3]) {
  const bool braces = text.starts_with('{');
  if (braces) text.remove_prefix(1);
  for (size_t i = 0; i < (braces ? 3 : 1); ++i) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    out[i] = number;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (braces && text.starts_with(',')) text.remove_prefix(1);
  }
  if (braces && text.starts_with('}')) text.remove_prefix(1);
  if (text.starts_with(',')) text.remove_prefix(1);
}

// "<<<grid,block,shared>>>"
LaunchShape ReadShape(std::string_view text) {
  LaunchShape shape;
  ReadDimensions(text, shape.grid);
  ReadDimensions(text, shape.block);
  uint32_t shared[3] = {0, 0, 0};
  ReadDimensions(text, shared);
  shape.shared_bytes = shared[0];
  return shape;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "3", "3 (topoId: 1)"
bool IsNodeNumber(std::string_view field) {
  return IsNumber(field) || field.find("(topoId") != std::string_view::npos;
}

// "graph_131"
bool IsGraphName(std::string_view field) {
  constexpr std::string_view kGraph = "graph_";
  return field.starts_with(kGraph) && IsNumber(field.substr(kGraph.size()));
}

// The kernel "name<<<4,128,0>>>" at fields[i]; false: it isn't there.
bool TakeLaunch(const std::vector<std::string>& fields, size_t i, DraftNode* node) {
  const size_t shape = fields[i].find("<<<");
  if (shape == std::string::npos) return false;
  node->kind = NodeKind::kKernel;
  node->kernel = Trimmed(std::string_view(fields[i]).substr(0, shape));
  if (node->kernel.empty() && i > 0) node->kernel = fields[i - 1];
  node->shape = ReadShape(std::string_view(fields[i]).substr(shape + 3));
  return true;
}

// A kernel without a launch shape: its name follows its number.
std::string KernelName(const std::vector<std::string>& fields) {
  for (size_t i = 0; i + 1 < fields.size(); ++i) {
    if (IsNodeNumber(fields[i])) return fields[i + 1];
  }
  return {};
}

// By the label's word, else by how the node is drawn.
NodeKind KindOf(const std::vector<std::string>& fields, const DotAttributes& drawn) {
  for (size_t i = 0; i < std::min<size_t>(fields.size(), 3); ++i) {
    if (const NodeKind kind = KindNamed(fields[i]); kind != NodeKind::kUnknown) return kind;
  }
  for (const auto& [shape, kind] : kShapes) {
    if (drawn.shape == shape) return kind;
  }
  return drawn.style == "bold" ? NodeKind::kKernel : NodeKind::kUnknown;
}

}  // namespace

DrawnNode ReadDrawnNode(const DotAttributes& drawn) {
  DrawnNode out;
  const bool record = drawn.shape.empty() ? Trimmed(drawn.label).starts_with('{')
                                          : drawn.shape.ends_with("ecord");  // record, Mrecord
  const std::vector<std::string> fields = Fields(drawn.label, record);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (TakeLaunch(fields, i, &out.node)) return out;
  }
  // A kernel's name may be any word.
  const bool kernel = drawn.shape == "octagon";
  out.node.kind = kernel ? NodeKind::kKernel : KindOf(fields, drawn);
  if (out.node.kind == NodeKind::kKernel) out.node.kernel = KernelName(fields);
  if (out.node.kind == NodeKind::kConditional) out.node.conditional = TypeOfConditional(fields);
  const bool holds = out.node.kind == NodeKind::kUnknown ||
                     out.node.kind == NodeKind::kChildGraph ||
                     out.node.kind == NodeKind::kConditional;
  if (!holds) return out;
  std::ranges::copy_if(fields, std::back_inserter(out.graphs), IsGraphName);
  if (out.node.kind == NodeKind::kUnknown && !out.graphs.empty()) {
    out.node.kind = out.graphs.size() == 1 ? NodeKind::kChildGraph : NodeKind::kConditional;
  }
  return out;
}

}  // namespace graphkit
