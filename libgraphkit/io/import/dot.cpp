#include "libgraphkit/io/import/formats.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/dot_graph.h"
#include "libgraphkit/io/import/dot_tokens.h"

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
  explicit Maker(const DotGraph& dot) : dot_(dot), places_(dot.nodes.size()) {}

  Result<Imported> Run() {
    for (uint32_t i = 0; i < dot_.nodes.size(); ++i) AddNode(i);
    for (const auto& [from, to] : dot_.edges) AddEdge(from, to);
    HoldNamed();
    held_.resize(drafts_.size());
    for (const Holding& holding : holdings_) Hold(holding);
    for (const bool roots : {true, false}) {
      for (uint32_t draft = 0; draft < drafts_.size(); ++draft) {
        if (roots && held_[draft]) continue;
        if (std::optional<Error> error = MakeWithInner(draft)) return std::move(*error);
      }
    }
    make_.trace.process.unknown_memory = "a drawing has no sizes of memory";
    Imported imported;
    imported.trace = std::move(make_.trace);
    imported.tool_ids = std::move(make_.tool_ids);
    Describe(&imported);
    return imported;
  }

 private:
  struct Place {
    uint32_t draft = 0;
    uint32_t node = 0;
  };
  struct Holding {
    Place holder;
    uint32_t inner = 0;  // draft
  };

  uint32_t DraftOf(uint32_t cluster);
  void AddNode(uint32_t i);
  void AddEdge(uint32_t from, uint32_t to);
  void HoldNamed();
  void Hold(const Holding& holding);
  std::optional<Error> MakeWithInner(uint32_t root);
  void Embed(uint32_t draft);
  void Describe(Imported* imported) const;

  const DotGraph& dot_;
  TraceMaker make_;
  std::map<uint32_t, uint32_t> draft_of_;  // by cluster
  std::vector<GraphDraft> drafts_;
  std::vector<Place> places_;                         // by node of the drawing
  std::vector<std::pair<Place, std::string>> named_;  // which node holds which cluster
  std::vector<Holding> holdings_;                     // as drawn
  std::vector<std::optional<Place>> held_;            // by draft: the node that holds it
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> inner_;  // drafts, by holder
  std::map<uint32_t, DraftedGraph> made_;                                 // by draft
  size_t ignored_ = 0;
};

uint32_t Maker::DraftOf(uint32_t cluster) {
  const auto [at, added] = draft_of_.emplace(cluster, static_cast<uint32_t>(drafts_.size()));
  if (added) {
    const DotCluster& from = dot_.clusters[cluster];
    drafts_.push_back({.name = from.label.empty() ? from.name : from.label,
                       .tool_id = 0,
                       .nodes = {},
                       .edges = {}});
  }
  return at->second;
}

void Maker::AddNode(uint32_t i) {
  const DotNode& from = dot_.nodes[i];
  const uint32_t number = DraftOf(from.cluster);
  GraphDraft& draft = drafts_[number];
  DrawnNode drawn = ReadDrawnNode(from.attributes);
  uint32_t graph_number = 0;
  uint32_t node_number = 0;
  if (ReadNumbers(from.name, &graph_number, &node_number)) {
    draft.tool_id = graph_number;
    drawn.node.tool_id = uint64_t{graph_number} << 32 | node_number;
  }
  places_[i] = {number, static_cast<uint32_t>(draft.nodes.size())};
  draft.nodes.push_back(std::move(drawn.node));
  for (std::string& graph : drawn.graphs) named_.emplace_back(places_[i], std::move(graph));
}

// A line between graphs leads from the node that holds a graph into it.
void Maker::AddEdge(uint32_t from, uint32_t to) {
  const Place a = places_[from];
  const Place b = places_[to];
  if (a.draft != b.draft) return holdings_.push_back({a, b.draft});
  drafts_[a.draft].edges.push_back({.from = a.node, .to = b.node});
}

// Nodes that say in their label which graph they hold.
void Maker::HoldNamed() {
  std::map<std::string_view, uint32_t> clusters;
  for (uint32_t i = 1; i < dot_.clusters.size(); ++i) clusters.emplace(dot_.clusters[i].label, i);
  for (const auto& [holder, name] : named_) {
    const auto at = clusters.find(name);
    if (at == clusters.end()) {
      ++ignored_;
    } else {
      holdings_.push_back({holder, DraftOf(at->second)});
    }
  }
}

void Maker::Hold(const Holding& holding) {
  std::optional<Place>& held = held_[holding.inner];
  const auto holder = std::pair(holding.holder.draft, holding.holder.node);
  if (held && std::pair(held->draft, held->node) == holder) return;
  const NodeKind kind = drafts_[holder.first].nodes[holder.second].kind;
  std::vector<uint32_t>& inner = inner_[holder];
  const bool may =
      kind == NodeKind::kConditional || (kind == NodeKind::kChildGraph && inner.empty());
  if (held || !may) return ++ignored_, void();
  held = holding.holder;
  inner.push_back(holding.inner);
}

// A graph comes after the node that holds it. Of graphs that hold each other in a circle the first
// is held by none.
std::optional<Error> Maker::MakeWithInner(uint32_t root) {
  std::vector<uint32_t> open = {root};
  while (!open.empty()) {
    const uint32_t draft = open.back();
    open.pop_back();
    if (made_.contains(draft)) continue;
    Result<DraftedGraph> made = AddDraft(drafts_[draft], make_);
    if (!made) return made.error();
    made_.emplace(draft, std::move(*made));
    if (held_[draft]) Embed(draft);
    const auto first = inner_.lower_bound({draft, 0});
    const auto last = inner_.lower_bound({draft + 1, 0});
    for (auto at = last; at != first;) {
      --at;
      open.insert(open.end(), at->second.rbegin(), at->second.rend());
    }
  }
  return std::nullopt;
}

void Maker::Embed(uint32_t draft) {
  const Place holder = *held_[draft];
  const auto outer = made_.find(holder.draft);
  if (outer == made_.end()) return ++ignored_, void();
  const NodeId node = outer->second.nodes[holder.node];
  const std::vector<uint32_t>& all = inner_.at({holder.draft, holder.node});
  Graph& graph = make_.trace.graphs[made_.at(draft).graph.index()];
  const bool body = make_.trace[node].kind == NodeKind::kConditional;
  graph.parent = node;
  graph.origin = body ? GraphOrigin::kBody : GraphOrigin::kChild;
  graph.body = body ? static_cast<uint32_t>(std::ranges::find(all, draft) - all.begin()) : 0;
}

void Maker::Describe(Imported* imported) const {
  const Trace& trace = imported->trace;
  std::string line = CountOf(trace.graphs.size(), "graph") + ", " +
                     CountOf(trace.nodes.size(), "node") + ", " +
                     CountOf(trace.edges.size(), "edge");
  const auto unknown = std::ranges::count(trace.nodes, NodeKind::kUnknown, &Node::kind);
  if (unknown > 0) {
    line += "; the kind of " + CountOf(static_cast<uint64_t>(unknown), "node") + " isn't known";
  }
  if (ignored_ > 0) {
    line += "; passed over: " + CountOf(ignored_, "line") + " or " +
            (ignored_ == 1 ? "name" : "names") + " that would hold one graph in another";
  }
  imported->summary.push_back(std::move(line));
}

}  // namespace

bool IsDot(std::string_view head) {
  DotTokens tokens(head);
  DotToken token = tokens.Next();
  if (token.text == "strict") token = tokens.Next();
  return token.kind == DotTokenKind::kWord && !token.quoted && token.text == "digraph";
}

Result<Imported> ReadDot(std::string_view bytes) {
  const Result<DotGraph> dot = ParseDot(bytes);
  if (!dot) return dot.error();
  return Maker(*dot).Run();
}

}  // namespace graphkit
