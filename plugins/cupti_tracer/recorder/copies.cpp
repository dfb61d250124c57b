#include "plugins/cupti_tracer/recorder/copies.h"

#include <algorithm>

#include "plugins/cupti_tracer/recorder/work.h"

namespace graphkit {

void Copies::Clear() {
  made_.clear();
  places_.Clear();
  order_.clear();
  held_.clear();
  first_free_ = 0;
  clones_.Clear();
}

void Copies::Collect(const Call& call, const std::vector<GraphEvent>& events) {
  for (const GraphEvent& event : events) {
    if (event.kind != GraphEventKind::kGraphCreated) continue;
    places_.Insert(event.graph, static_cast<uint32_t>(made_.size()));
    made_.push_back({event.graph, event.original_graph, event.tool_id, false});
  }
  if (made_.empty()) return;
  const ExecInfo* exec = Launched(call);
  const HandleMap<uint32_t> exec_nodes = exec != nullptr ? exec->Places() : HandleMap<uint32_t>();
  for (const GraphEvent& event : events) {
    Graph* made = Made(event.graph);
    if (made == nullptr) continue;
    const bool cloned = event.kind == GraphEventKind::kNodeCloned;
    if (cloned) AddClone(event, exec, exec_nodes);
    if (cloned || event.kind == GraphEventKind::kGraphCloned) made->original = event.original_graph;
  }
  for (uint32_t i = 0; i < made_.size(); ++i) {
    const NodeId holder = HolderOf(made_[i].original, call);
    if (holder) held_.emplace_back(holder, i);
  }
  std::ranges::sort(held_);
}

void Copies::AddClone(const GraphEvent& event, const ExecInfo* exec,
                      const HandleMap<uint32_t>& places) {
  if (const uint32_t* at = places.Find(event.original_node)) {
    const ExecInfo::Node& node = exec->nodes[*at];
    Clone& clone = clones_.Insert(event.node, {node.source, node.now, &exec->edge_data});
    if (exec->unseen_update) clone.original.place = WorkReader::kNoPlace;
    return;
  }
  const NodeInfo* node = graphs_.FindNode(event.original_node);
  if (node == nullptr) return;
  const GraphInfo* graph = graphs_.Find(event.original_graph);
  clones_.Insert(event.node, {node->id, *node, graph != nullptr ? &graph->edge_data : nullptr});
}

// A graph that is launched is what its exec is: of one that was made, or updated, without a word of
// CUPTI's that isn't known.
bool Copies::IsUnknown(const Call& call, const std::vector<GraphEvent>& events) const {
  if (made_.empty() || call.kind != CallKind::kGraphLaunch) return false;
  const ExecInfo* exec = Launched(call);
  return exec == nullptr || exec->unseen_update ||
         std::ranges::any_of(events, [this](const GraphEvent& event) {
           return event.kind == GraphEventKind::kNodeStarting && IsMade(event.graph) &&
                  CloneOf(event.node) == nullptr;
         });
}

Copies::Graph* Copies::Made(uint64_t handle) {
  const uint32_t* at = places_.Find(handle);
  return at != nullptr ? &made_[*at] : nullptr;
}

uint64_t Copies::TargetOf(const Call& call, const std::vector<GraphEvent>& events) const {
  if (call.graph != 0) return call.graph;
  if (call.kind == CallKind::kGraphClone) return made_.front().handle;
  for (const GraphEvent& event : events) {
    if (event.kind == GraphEventKind::kNodeStarting && !IsMade(event.graph) &&
        graphs_.Find(event.graph) != nullptr) {
      return event.graph;
    }
  }
  return 0;
}

const FrontierEntry* Copies::EdgeData(uint64_t from, uint64_t to) const {
  if (clones_.size() == 0) return nullptr;
  const Clone* producer = CloneOf(from);
  const Clone* consumer = CloneOf(to);
  if (producer == nullptr || consumer == nullptr || consumer->edges == nullptr) return nullptr;
  return consumer->edges->Find(producer->source, consumer->source);
}

std::vector<Copies::Graph> Copies::ClaimFor(const NodeDraft& node, const Call& call) {
  std::vector<Graph> claimed;
  auto claim = [&](Graph& graph) {
    graph.claimed = true;
    claimed.push_back(graph);
    order_.push_back(graph.handle);
  };
  const bool conditional = node.kind == NodeKind::kConditional;
  if (conditional && node.of_call) {
    for (uint32_t i = 0; i < call.body_count; ++i) {
      Graph unseen{.handle = call.bodies[i]};
      Graph* made = Made(call.bodies[i]);
      claim(made != nullptr ? *made : unseen);
    }
    return claimed;
  }
  if (const Clone* clone = CloneOf(node.handle)) {
    auto at = std::ranges::lower_bound(held_, clone->source, {}, &Held::first);
    for (; at != held_.end() && at->first == clone->source; ++at) {
      if (!made_[at->second].claimed) claim(made_[at->second]);
    }
  }
  if (conditional || !claimed.empty() || MovedBy(node, call) != nullptr) return claimed;
  const uint64_t launched = call.kind == CallKind::kGraphLaunch ? call.exec : call.original;
  while (first_free_ < made_.size() && made_[first_free_].claimed) ++first_free_;
  auto best = made_.begin() + static_cast<ptrdiff_t>(first_free_);
  if (node.of_call && launched != 0) {
    auto same = std::find_if(best, made_.end(), [launched](const Graph& graph) {
      return !graph.claimed && graph.original == launched;
    });
    if (same != made_.end()) best = same;
  }
  if (best != made_.end()) claim(*best);
  return claimed;
}

// The node that holds a graph of which the call makes a copy.
NodeId Copies::HolderOf(uint64_t graph, const Call& call) const {
  const ExecInfo* exec = Launched(call);
  if (const auto* inner = exec != nullptr ? exec->FindGraph(graph) : nullptr) return inner->parent;
  const GraphInfo* known = graphs_.Find(graph);
  return known != nullptr ? known->parent : NodeId();
}

GraphId Copies::SourceOf(uint64_t graph, const NodeDraft& node, const Call& call) const {
  const ExecInfo* exec = Launched(call);
  if (node.of_call && exec != nullptr) return exec->graph;
  if (const auto* inner = exec != nullptr ? exec->FindGraph(graph) : nullptr) return inner->source;
  const GraphId known = graphs_.IdOf(graph);
  return known || !node.of_call ? known : graphs_.IdOf(call.original);
}

GraphInfo* Copies::MovedBy(const NodeDraft& node, const Call& call) const {
  return node.of_call && call.moves_graph ? graphs_.Find(call.original) : nullptr;
}

}  // namespace graphkit
