#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/dot_graph.h"
#include "libgraphkit/io/import/formats.h"

namespace graphkit {
namespace {

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

Result<Imported> ReadDot(std::string_view bytes) {
  const Result<DotGraph> dot = ParseDot(bytes);
  if (!dot) return dot.error();
  return Maker(*dot).Run();
}

}  // namespace graphkit
