#include "libgraphkit/io/import/dot.h"

#include <charconv>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/dot_tokens.h"

namespace graphkit {
namespace {

struct Cluster {
  std::string name;  // of the subgraph
  std::string label;
};

struct DotNode {
  std::string name;
  std::string label;
  uint32_t cluster = 0;
  bool declared = false;  // by a statement of its own
};

struct DotGraph {
  std::vector<Cluster> clusters;  // the first stands for what is outside of any
  std::vector<DotNode> nodes;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(text) { Advance(); }

  Result<DotGraph> Run() {
    while (IsWord("strict") || IsWord("digraph") || IsWord("graph")) Advance();
    if (token_.kind == DotTokenKind::kWord) Advance();
    if (!Take('{')) {
      return Error{.message = "not a DOT graph: no '{' after 'digraph'", .line = tokens_.line()};
    }
    out_.clusters.emplace_back();
    open_.push_back(0);
    while (token_.kind != DotTokenKind::kEnd && !open_.empty()) Statement();
    if (open_.empty()) return std::move(out_);
    return Error{.message = "the DOT text ends in the middle",
                 .hint = "the file was cut off: write it again",
                 .line = tokens_.line(),
                 .kind = Error::Kind::kIncomplete};
  }

 private:
  void Advance() { token_ = tokens_.Next(); }
  bool Is(char c) const {
    return token_.kind == DotTokenKind::kPunctuation && token_.character == c;
  }
  bool IsWord(std::string_view word) const {
    return token_.kind == DotTokenKind::kWord && !token_.quoted && token_.text == word;
  }
  bool Take(char c) {
    if (!Is(c)) return false;
    Advance();
    return true;
  }
  std::string TakeText() {
    std::string text = std::move(token_.text);
    Advance();
    return text;
  }

  void Statement();
  void Open(std::string name);
  void NodeOrEdges();
  std::string Attributes();
  uint32_t NodeNamed(const std::string& name, bool declared);

  DotTokens tokens_;
  DotToken token_;
  DotGraph out_;
  std::vector<uint32_t> open_;  // clusters
  std::unordered_map<std::string, uint32_t> numbers_;
};

void Parser::Open(std::string name) {
  open_.push_back(static_cast<uint32_t>(out_.clusters.size()));
  out_.clusters.push_back({std::move(name), {}});
}

void Parser::Statement() {
  if (Take('}')) return open_.pop_back();
  if (Take('{')) return Open({});
  if (IsWord("subgraph")) {
    Advance();
    std::string name;
    if (token_.kind == DotTokenKind::kWord) name = TakeText();
    if (Take('{')) Open(std::move(name));
    return;
  }
  if (IsWord("graph") || IsWord("node") || IsWord("edge")) {
    Advance();
    Attributes();
    return;
  }
  if (token_.kind != DotTokenKind::kWord) return Advance();  // ; and what nobody expects
  NodeOrEdges();
}

// [a=b, c=d …]…: the label, when there is one.
std::string Parser::Attributes() {
  std::string label;
  while (Take('[')) {
    while (token_.kind != DotTokenKind::kEnd && !Is(']')) {
      if (token_.kind != DotTokenKind::kWord) {
        Advance();
        continue;
      }
      const std::string key = TakeText();
      if (!Take('=') || token_.kind != DotTokenKind::kWord) continue;
      std::string value = TakeText();
      if (key == "label") label = std::move(value);
    }
    Take(']');
  }
  return label;
}

uint32_t Parser::NodeNamed(const std::string& name, bool declared) {
  const auto [at, added] = numbers_.emplace(name, static_cast<uint32_t>(out_.nodes.size()));
  if (added) out_.nodes.push_back({name, {}, open_.back(), declared});
  DotNode& node = out_.nodes[at->second];
  if (declared && !node.declared) {
    node.declared = true;
    node.cluster = open_.back();
  }
  return at->second;
}

void Parser::NodeOrEdges() {
  const std::string first = TakeText();
  if (Take('=')) {
    if (token_.kind != DotTokenKind::kWord) return;
    std::string value = TakeText();
    if (first == "label") out_.clusters[open_.back()].label = std::move(value);
    return;
  }
  while (Take(':')) {  // a port
    if (token_.kind == DotTokenKind::kWord) Advance();
  }
  if (token_.kind != DotTokenKind::kArrow) {
    const uint32_t node = NodeNamed(first, true);
    std::string label = Attributes();
    if (!label.empty()) out_.nodes[node].label = std::move(label);
    return;
  }
  uint32_t from = NodeNamed(first, false);
  while (token_.kind == DotTokenKind::kArrow) {
    Advance();
    if (token_.kind != DotTokenKind::kWord || IsWord("subgraph")) break;
    const uint32_t to = NodeNamed(TakeText(), false);
    while (Take(':')) {
      if (token_.kind == DotTokenKind::kWord) Advance();
    }
    out_.edges.emplace_back(from, to);
    from = to;
  }
  Attributes();
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

// From the parsed text to a trace: a graph for each cluster with nodes.
class Maker {
 public:
  explicit Maker(const DotGraph& dot) : dot_(dot), places_(dot.nodes.size()) {}

  Result<Imported> Run() {
    for (uint32_t i = 0; i < dot_.nodes.size(); ++i) AddNode(i);
    for (const auto& [from, to] : dot_.edges) AddEdge(from, to);
    for (GraphDraft& draft : drafts_) {
      Result<DraftedGraph> made = AddDraft(draft, make_);
      if (!made) return made.error();
      made_.push_back(std::move(*made));
    }
    for (const auto& [from, to] : across_) Embed(from, to);
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

  void AddNode(uint32_t i);
  void AddEdge(uint32_t from, uint32_t to);
  void Embed(uint32_t from, uint32_t to);
  void Describe(Imported* imported) const;

  const DotGraph& dot_;
  TraceMaker make_;
  std::map<uint32_t, uint32_t> draft_of_;  // by cluster
  std::vector<GraphDraft> drafts_;
  std::vector<DraftedGraph> made_;
  std::vector<Place> places_;
  std::vector<std::pair<uint32_t, uint32_t>> across_;
  size_t ignored_ = 0;
};

void Maker::AddNode(uint32_t i) {
  const DotNode& from = dot_.nodes[i];
  const auto [at, added] = draft_of_.emplace(from.cluster, static_cast<uint32_t>(drafts_.size()));
  if (added) {
    const Cluster& cluster = dot_.clusters[from.cluster];
    drafts_.push_back({.name = cluster.label.empty() ? cluster.name : cluster.label,
                       .tool_id = 0,
                       .nodes = {},
                       .edges = {}});
  }
  GraphDraft& draft = drafts_[at->second];
  DraftNode node = ParseDotLabel(from.label);
  uint32_t graph_number = 0;
  uint32_t node_number = 0;
  if (ReadNumbers(from.name, &graph_number, &node_number)) {
    draft.tool_id = graph_number;
    node.tool_id = uint64_t{graph_number} << 32 | node_number;
  }
  places_[i] = {at->second, static_cast<uint32_t>(draft.nodes.size())};
  draft.nodes.push_back(std::move(node));
}

void Maker::AddEdge(uint32_t from, uint32_t to) {
  const Place a = places_[from];
  const Place b = places_[to];
  if (a.draft != b.draft) return across_.emplace_back(from, to), void();
  drafts_[a.draft].edges.push_back({.from = a.node, .to = b.node});
}

// A line between graphs leads from the node that holds a graph into it.
void Maker::Embed(uint32_t from, uint32_t to) {
  const NodeId holder = made_[places_[from].draft].nodes[places_[from].node];
  const NodeKind kind = make_.trace[holder].kind;
  Graph& graph = make_.trace.graphs[made_[places_[to].draft].graph.index()];
  const bool holds = kind == NodeKind::kChildGraph;
  if (!holds || graph.parent || holder.index() >= make_.trace.nodes.size()) {
    ++ignored_;
    return;
  }
  for (const Graph& other : make_.trace.graphs) {
    if (other.parent == holder || make_.trace[holder].graph == made_[places_[to].draft].graph) {
      ++ignored_;
      return;
    }
  }
  graph.parent = holder;
  graph.origin = GraphOrigin::kChild;
}

void Maker::Describe(Imported* imported) const {
  const Trace& trace = imported->trace;
  std::string line = CountOf(trace.graphs.size(), "graph") + ", " +
                     CountOf(trace.nodes.size(), "node") + ", " +
                     CountOf(trace.edges.size(), "edge");
  if (ignored_ > 0) line += "; passed over: " + CountOf(ignored_, "edge") + " between graphs";
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
  const Result<DotGraph> dot = Parser(bytes).Run();
  if (!dot) return dot.error();
  return Maker(*dot).Run();
}

}  // namespace graphkit
