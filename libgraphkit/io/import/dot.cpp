#include "libgraphkit/io/import/dot.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/model/names.h"

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
    for (size_t i = 0; i < Names<ConditionalType>::value.size(); ++i) {
      const auto type = static_cast<ConditionalType>(i);
      if (WordOf(field) == WordOf(NameOf(type))) return type;
    }
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

// "graph_3_node_7" → {3, 7}.
bool ReadNumbers(std::string_view name, uint32_t* graph, uint32_t* node) {
  constexpr std::string_view kGraph = "graph_";
  constexpr std::string_view kNode = "_node_";
  if (!name.starts_with(kGraph)) return false;
  const char* end = name.data() + name.size();
  const auto first = std::from_chars(name.data() + kGraph.size(), end, *graph);
  const std::string_view rest(first.ptr, static_cast<size_t>(end - first.ptr));
  if (first.ec != std::errc() || !rest.starts_with(kNode)) return false;
  const auto second = std::from_chars(rest.data() + kNode.size(), end, *node);
  return second.ec == std::errc() && second.ptr == end;
}

// From the parsed text to a trace: a graph for each cluster with nodes, and for those that a node
// says it holds.
class Maker {
 public:
  explicit Maker(const DotGraph& dot)
      : dot_(dot), places_(dot.nodes.size()), parts_(dot.clusters.size()) {}

  Result<Imported> Run() {
    for (uint32_t i = 0; i < dot_.nodes.size(); ++i) AddNode(i);
    for (const auto& [from, to] : dot_.edges) AddEdge(from, to);
    HoldNamed();
    for (const bool roots : {true, false}) {
      for (const uint32_t cluster : used_) {
        if (roots && parts_[cluster].holder) continue;
        if (std::optional<Error> error = MakeWithInner(cluster)) return std::move(*error);
      }
    }
    make_.trace.process.unknown_memory = "a drawing has no sizes of memory";
    return make_.Finish(Summary());
  }

 private:
  // A node, by its number in the draft of its cluster.
  struct Place {
    uint32_t cluster = 0;
    uint32_t node = 0;
    bool operator==(const Place&) const = default;
  };
  // A cluster on its way to a graph.
  struct Part {
    bool used = false;
    GraphDraft draft;
    std::optional<Place> holder;
    std::map<uint32_t, std::vector<uint32_t>> inner;  // the clusters that its nodes hold
    DraftedGraph made;
  };

  Part& Use(uint32_t cluster) {
    Part& part = parts_[cluster];
    if (part.used) return part;
    part.used = true;
    const DotCluster& from = dot_.clusters[cluster];
    part.draft.name = from.label.empty() ? from.name : from.label;
    used_.push_back(cluster);
    return part;
  }

  void AddNode(uint32_t i) {
    const DotNode& from = dot_.nodes[i];
    GraphDraft& draft = Use(from.cluster).draft;
    DrawnNode drawn = ReadDrawnNode(from.attributes);
    uint32_t graph_number = 0;
    uint32_t node_number = 0;
    if (ReadNumbers(from.name, &graph_number, &node_number)) {
      draft.tool_id = graph_number;
      drawn.node.tool_id = uint64_t{graph_number} << 32 | node_number;
    }
    places_[i] = {from.cluster, static_cast<uint32_t>(draft.nodes.size())};
    draft.nodes.push_back(std::move(drawn.node));
    for (std::string& graph : drawn.graphs) named_.emplace_back(places_[i], std::move(graph));
  }

  // A line between graphs leads from the node that holds a graph into it.
  void AddEdge(uint32_t from, uint32_t to) {
    const Place a = places_[from];
    const Place b = places_[to];
    if (a.cluster != b.cluster) return Hold(a, b.cluster);
    parts_[a.cluster].draft.edges.push_back({.from = a.node, .to = b.node});
  }

  // Nodes that say in their label which graph they hold.
  void HoldNamed() {
    std::map<std::string_view, uint32_t> clusters;
    for (uint32_t i = 1; i < dot_.clusters.size(); ++i) clusters.emplace(dot_.clusters[i].label, i);
    for (const auto& [holder, name] : named_) {
      const auto at = clusters.find(name);
      if (at == clusters.end()) {
        ++ignored_;
      } else {
        Use(at->second);
        Hold(holder, at->second);
      }
    }
  }

  void Hold(Place holder, uint32_t cluster) {
    std::optional<Place>& held = parts_[cluster].holder;
    if (held == holder) return;
    Part& outer = parts_[holder.cluster];
    const NodeKind kind = outer.draft.nodes[holder.node].kind;
    std::vector<uint32_t>& inner = outer.inner[holder.node];
    const bool may =
        kind == NodeKind::kConditional || (kind == NodeKind::kChildGraph && inner.empty());
    if (held || !may) return ++ignored_, void();
    held = holder;
    inner.push_back(cluster);
  }

  // A graph comes after the node that holds it. Of graphs that hold each other in a circle the
  // first is held by none.
  std::optional<Error> MakeWithInner(uint32_t root) {
    std::vector<uint32_t> open = {root};
    while (!open.empty()) {
      const uint32_t cluster = open.back();
      Part& part = parts_[cluster];
      open.pop_back();
      if (part.made.graph) continue;
      Result<DraftedGraph> made = AddDraft(part.draft, make_);
      if (!made) return made.error();
      part.made = std::move(*made);
      if (part.holder) Embed(cluster);
      for (auto at = part.inner.rbegin(); at != part.inner.rend(); ++at) {
        open.insert(open.end(), at->second.rbegin(), at->second.rend());
      }
    }
    return std::nullopt;
  }

  void Embed(uint32_t cluster) {
    const Place holder = *parts_[cluster].holder;
    const Part& outer = parts_[holder.cluster];
    if (!outer.made.graph) return ++ignored_, void();
    const std::vector<uint32_t>& all = outer.inner.at(holder.node);
    Graph& graph = make_.trace.graphs[parts_[cluster].made.graph.index()];
    graph.parent = outer.made.nodes[holder.node];
    const bool body = make_.trace[graph.parent].kind == NodeKind::kConditional;
    graph.origin = body ? GraphOrigin::kBody : GraphOrigin::kChild;
    graph.body = body ? static_cast<uint32_t>(std::ranges::find(all, cluster) - all.begin()) : 0;
  }

  std::string Summary() const {
    std::string line = CountsOf(make_.trace);
    const auto unknown = std::ranges::count(make_.trace.nodes, NodeKind::kUnknown, &Node::kind);
    if (unknown > 0) {
      line += "; the kind of " + Counted(static_cast<uint64_t>(unknown), "node") + " isn't known";
    }
    if (ignored_ > 0) {
      line += "; passed over: " + Counted(ignored_, "line") + " or " +
              (ignored_ == 1 ? "name" : "names") + " that would hold one graph in another";
    }
    return line;
  }

  const DotGraph& dot_;
  TraceMaker make_;
  std::vector<Place> places_;   // by node of the drawing
  std::vector<Part> parts_;     // by cluster
  std::vector<uint32_t> used_;  // clusters that become graphs, as they were met
  std::vector<std::pair<Place, std::string>> named_;  // which node holds which cluster
  size_t ignored_ = 0;
};

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

Result<Imported> ReadDot(std::string_view bytes) {
  const Result<DotGraph> dot = ParseDot(bytes);
  if (!dot) return dot.error();
  return Maker(*dot).Run();
}

}  // namespace graphkit
