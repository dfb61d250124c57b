#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "libgraphkit/analysis/launches/collectives.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {
namespace {

class Summary {
 public:
  Summary(const Trace& trace, const std::vector<GraphId>& ran) : trace_(trace), ran_(ran) {}

  RankCollectives Make() {
    if (trace_.collectives.empty()) return {};
    made_.communicators = trace_.communicators;
    made_.places.emplace_back();
    made_.works = trace_.process.all_work;
    FindNodes();
    AddGraphs();
    AddExecuted();
    return std::move(made_);
  }

 private:
  // Nodes with operations, and those that hold a graph with such a node.
  void FindNodes() {
    NodeId last;
    for (const Collective& collective : trace_.collectives) {
      const NodeId id = NodeAt(trace_, collective.seq);
      if (!id.valid() || id == last || !InGraph(trace_, trace_[id])) continue;
      last = id;
      AddNode(id);
    }
    Sort();
  }

  void AddNode(NodeId id) {
    nodes_[trace_[id].graph].push_back(id);
    const Graph& graph = trace_[trace_[id].graph];
    if (!graph.parent) return;
    std::vector<GraphId>& held = held_[graph.parent];
    if (std::ranges::find(held, trace_[id].graph) != held.end()) return;
    held.push_back(trace_[id].graph);
    if (held.size() == 1) AddNode(graph.parent);
  }

  // Nodes that were captured stand in an order that their edges allow; added ones may not.
  void Sort() {
    const bool backwards = std::ranges::any_of(trace_.edges, [&](const Edge& edge) {
      return edge.to.value < edge.from.value && Joins(trace_, edge);
    });
    std::vector<uint32_t> place(trace_.nodes.size(), 0xffffffffu);
    if (backwards) {
      const std::vector<uint32_t> sorted = SortNodes(FindInEdges(trace_));
      for (uint32_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
    }
    for (auto& [graph, nodes] : nodes_) {
      std::ranges::sort(nodes, {},
                        [&](NodeId id) { return std::pair(place[id.index()], id.value); });
    }
    for (auto& [node, graphs] : held_) {
      std::ranges::sort(graphs, {}, [&](GraphId id) { return trace_[id].body; });
    }
  }

  void AddGraphs() {
    for (size_t i = 0; i < trace_.graphs.size(); ++i) {
      const Graph& graph = trace_.graphs[i];
      if (graph.parent || !nodes_.contains(GraphId(i))) continue;
      RankProgram program{.graph = GraphId(i), .name = std::string(trace_[graph.name])};
      AddOperations(GraphId(i), "", &program);
      const auto index = static_cast<uint32_t>(made_.programs.size());
      program_.emplace(GraphId(i), index);
      if (graph.origin == GraphOrigin::kCapture) made_.captured.push_back({index});
      made_.programs.push_back(std::move(program));
    }
  }

  void AddOperations(GraphId graph, const std::string& body, RankProgram* program) {
    for (const NodeId id : nodes_.at(graph)) {
      Add(trace_[id].seq, trace_[id].stack, id, body, program);
      const auto held = held_.find(id);
      if (held == held_.end()) continue;
      for (const GraphId inner : held->second) {
        std::string name = BodyName(trace_[id], trace_[inner]);
        if (!body.empty()) name = body + (name.empty() ? "" : ", ") + name;
        AddOperations(inner, name, program);
      }
    }
  }

  static std::string BodyName(const Node& holder, const Graph& graph) {
    if (graph.origin != GraphOrigin::kBody) return "";
    const std::string number = std::to_string(graph.body);
    switch (holder.conditional) {
      case ConditionalType::kIf:
        return graph.body == 0 ? "if" : "else";
      case ConditionalType::kWhile:
        return "while";
      case ConditionalType::kSwitch:
        return "case " + number;
      case ConditionalType::kUnknown:
        break;
    }
    return "body " + number;
  }

  void Add(Seq seq, StackId stack, NodeId node, const std::string& body, RankProgram* program) {
    for (Collective collective : RowsAt(trace_.collectives, seq)) {
      collective.seq = 0;
      program->operations.push_back({collective, node, PlaceOf(stack), body});
    }
  }

  void AddExecuted() {
    size_t work = 0;
    for (size_t i = 0; i < trace_.launches.size(); ++i) {
      const Launch& launch = trace_.launches[i];
      for (; work < trace_.works.size() && trace_.works[work].seq < launch.seq; ++work) {
        AddWork(trace_.works[work]);
      }
      const auto program = program_.find(ran_[i]);
      if (program != program_.end()) Execute(program->second);
    }
    for (; work < trace_.works.size(); ++work) AddWork(trace_.works[work]);
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
    const auto index = static_cast<uint32_t>(made_.programs.size());
    const auto [found, is_new] = works_.emplace(std::move(key), index);
    if (is_new) made_.programs.push_back(std::move(program));
    Execute(found->second);
  }

  void Execute(uint32_t program) {
    if (!made_.executed.empty() && made_.executed.back().program == program) {
      ++made_.executed.back().times;
    } else {
      made_.executed.push_back({program});
    }
  }

  // The innermost line of the program's own code. A library that lies beside it may count as that,
  // but has no lines.
  std::optional<uint32_t> FrameOf(StackId stack) const {
    const Slice frames = stack ? trace_.stacks[stack.index()].frames : Slice();
    for (uint32_t i = frames.first; i < frames.first + frames.count; ++i) {
      const StackFrame& at = trace_.stack_frames[i];
      const std::string_view file = trace_[at.file];
      if (at.line > 0 && !IsLibraryFrame(trace_[at.function], file)) return i;
    }
    return CallSiteOf(trace_, stack).own;
  }

  uint32_t PlaceOf(StackId stack) {
    const std::optional<uint32_t> frame = FrameOf(stack);
    if (!frame) return 0;
    const auto [found, is_new] =
        places_.emplace(*frame, static_cast<uint32_t>(made_.places.size()));
    if (is_new) {
      const StackFrame& at = trace_.stack_frames[*frame];
      made_.places.push_back(
          {std::string(trace_[at.function]), std::string(trace_[at.file]), at.line});
    }
    return found->second;
  }

  const Trace& trace_;
  const std::vector<GraphId>& ran_;
  RankCollectives made_;
  std::map<GraphId, std::vector<NodeId>> nodes_;
  std::map<NodeId, std::vector<GraphId>> held_;  // child graph; bodies, in their order
  std::map<GraphId, uint32_t> program_;
  std::map<std::vector<std::vector<uint64_t>>, uint32_t> works_;
  std::map<uint32_t, uint32_t> places_;  // by frame
};

}  // namespace

RankCollectives SummarizeCollectives(const Trace& trace, const std::vector<GraphId>& ran) {
  return Summary(trace, ran).Make();
}

}  // namespace graphkit
