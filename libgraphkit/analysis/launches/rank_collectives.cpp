#include "libgraphkit/analysis/launches/rank_collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {
namespace {

struct Summary {
  RankCollectives Make() {
    if (trace.collectives.empty()) return {};
    made.communicators = trace.communicators;
    made.places.emplace_back();
    made.works = trace.process.all_work;
    FindNodes();
    AddGraphs();
    AddExecuted();
    return std::move(made);
  }

  // Nodes with operations, and those that hold a graph with such a node.
  void FindNodes() {
    NodeId last;
    for (const Collective& collective : trace.collectives) {
      const NodeId id = NodeAt(trace, collective.seq);
      if (!id.valid() || id == last || !trace.graph_nodes.Has(id)) continue;
      last = id;
      AddNode(id);
    }
    Sort();
  }

  void AddNode(NodeId id) {
    by_graph[trace[id].graph].push_back(id);
    const Graph& graph = trace[trace[id].graph];
    if (!graph.parent) return;
    std::vector<GraphId>& held = inside[graph.parent];
    if (std::ranges::find(held, trace[id].graph) != held.end()) return;
    held.push_back(trace[id].graph);
    if (held.size() == 1) AddNode(graph.parent);
  }

  // Nodes that were captured stand in an order that their edges allow; added ones may not.
  void Sort() {
    bool backwards = false;
    for (const EdgeId id : trace.graph_edges)
      backwards = backwards || trace[id].to.value < trace[id].from.value;
    std::vector<uint32_t> place(trace.nodes.size(), 0xffffffffu);
    if (backwards) {
      const std::vector<uint32_t> sorted = SortNodes(FindInEdges(trace));
      for (uint32_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
    }
    for (auto& [graph, nodes] : by_graph) {
      std::ranges::sort(nodes, {},
                        [&](NodeId id) { return std::pair(place[id.index()], id.value); });
    }
    for (auto& [node, graphs] : inside)
      std::ranges::sort(graphs, {}, [&](GraphId id) { return trace[id].body; });
  }

  void AddGraphs() {
    for (const auto& [i, graph] : Enumerate(trace.graphs)) {
      if (graph.parent || !by_graph.contains(GraphId(i))) continue;
      RankProgram program{.graph = GraphId(i), .name = std::string(trace[graph.name])};
      AddOperations(GraphId(i), "", &program);
      const auto index = static_cast<uint32_t>(made.programs.size());
      index_of.emplace(GraphId(i), index);
      if (graph.origin == GraphOrigin::kCapture) made.captured.push_back({index});
      made.programs.push_back(std::move(program));
    }
  }

  void AddOperations(GraphId graph, const std::string& body, RankProgram* program) {
    for (const NodeId id : by_graph.at(graph)) {
      Add(trace[id].seq, trace[id].stack, id, body, program);
      const auto held = inside.find(id);
      if (held == inside.end()) continue;
      for (const GraphId inner : held->second) {
        std::string name = BodyName(trace[id], trace[inner]);
        if (!body.empty()) name = body + (name.empty() ? "" : ", ") + name;
        AddOperations(inner, name, program);
      }
    }
  }

  static std::string BodyName(const Node& holder, const Graph& graph) {
    if (graph.origin != GraphOrigin::kBody) return "";
    if (holder.conditional == ConditionalType::kIf) return graph.body == 0 ? "if" : "else";
    if (holder.conditional == ConditionalType::kWhile) return "while";
    const bool switches = holder.conditional == ConditionalType::kSwitch;
    return (switches ? "case " : "body ") + std::to_string(graph.body);
  }

  void Add(Seq seq, StackId stack, NodeId node, const std::string& body, RankProgram* program) {
    for (Collective collective : RowsAt(trace.collectives, seq)) {
      collective.seq = 0;
      program->operations.push_back({collective, node, PlaceOf(stack), body});
    }
  }

  void AddExecuted() {
    size_t work = 0;
    for (const auto& [i, launch] : Enumerate(trace.launches)) {
      for (; work < trace.works.size() && trace.works[work].seq < launch.seq; ++work)
        AddWork(trace.works[work]);
      const auto program = index_of.find(ran[i]);
      if (program != index_of.end()) Execute(program->second);
    }
    for (; work < trace.works.size(); ++work) AddWork(trace.works[work]);
  }

  // Of works that do the same at one place there is one program.
  void AddWork(const EagerWork& work) {
    RankProgram program;
    Add(work.seq, work.stack, {}, "", &program);
    if (program.operations.empty()) return;
    std::vector<std::vector<uint64_t>> key;
    for (const RankOperation& operation : program.operations) {
      const Collective& what = operation.what;
      key.push_back({what.communicator.value, static_cast<uint64_t>(what.kind),
                     static_cast<uint64_t>(what.type), what.count, static_cast<uint64_t>(what.peer),
                     operation.place});
    }
    const auto index = static_cast<uint32_t>(made.programs.size());
    const auto [found, is_new] = works.emplace(std::move(key), index);
    if (is_new) made.programs.push_back(std::move(program));
    Execute(found->second);
  }

  void Execute(uint32_t program) {
    if (!made.executed.empty() && made.executed.back().program == program) {
      ++made.executed.back().times;
    } else {
      made.executed.push_back({program});
    }
  }

  // The innermost line of the program's own code. A library that lies beside it may count as that,
  // but has no lines.
  std::optional<uint32_t> FrameOf(StackId stack) const {
    const Slice frames = stack ? trace.stacks[stack.index()].frames : Slice();
    for (uint32_t i = frames.first; i < frames.first + frames.count; ++i) {
      const StackFrame& at = trace.stack_frames[i];
      const std::string_view file = trace[at.file];
      if (at.line > 0 && !IsLibraryFrame(trace[at.function], file)) return i;
    }
    return CallSiteOf(trace, stack).own;
  }

  uint32_t PlaceOf(StackId stack) {
    const std::optional<uint32_t> frame = FrameOf(stack);
    if (!frame) return 0;
    const auto [found, is_new] = places.emplace(*frame, static_cast<uint32_t>(made.places.size()));
    if (is_new) {
      const StackFrame& at = trace.stack_frames[*frame];
      made.places.push_back(
          {std::string(trace[at.function]), std::string(trace[at.file]), at.line});
    }
    return found->second;
  }

  const Ran& trace;
  const std::vector<GraphId>& ran;
  RankCollectives made = {};
  std::map<GraphId, std::vector<NodeId>> by_graph = {};
  std::map<NodeId, std::vector<GraphId>> inside = {};  // child graph; bodies, in their order
  std::map<GraphId, uint32_t> index_of = {};
  std::map<std::vector<std::vector<uint64_t>>, uint32_t> works = {};
  std::map<uint32_t, uint32_t> places = {};  // by frame
};

}  // namespace

RankCollectives SummarizeCollectives(const Ran& trace, const std::vector<GraphId>& ran) {
  return Summary{trace, ran}.Make();
}

}  // namespace graphkit
