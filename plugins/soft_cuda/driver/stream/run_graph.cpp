// A launch of a graph: its nodes in order in the stream's line; or each in a line of its own after
// those that it depends on, where that makes a difference: where values are waited for, and where
// GRAPHKIT_SOFT_ORDER asks for orders that other nodes' places don't suggest.
#include "plugins/soft_cuda/driver/stream/run_graph.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/conditional.h"
#include "plugins/soft_cuda/driver/stream/duration.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/execute.h"

namespace graphkit::soft::driver {
namespace {

using Marks = std::vector<WorkMark>;

const ConditionalParams* ConditionalOf(const NodeParams& params) {
  const auto* conditional = std::get_if<std::unique_ptr<ConditionalParams>>(&params);
  return conditional != nullptr ? conditional->get() : nullptr;
}

// The graph that a node runs in its place; null: none.
Graph* Inner(const NodeParams& params) {
  const auto* child = std::get_if<ChildParams>(&params);
  return child != nullptr ? child->graph : nullptr;
}

std::vector<Work> WorksOfNode(const NodeParams& params) {
  std::vector<Work> works = WorksOf(params);
  if (const ConditionalParams* conditional = ConditionalOf(params))
    works.push_back(ConditionalWork(*conditional));
  return works;
}

CUresult CheckLoops(const Graph& graph) {
  switch (FindLoop(graph)) {
    case Loop::kNone:
      return CUDA_SUCCESS;
    case Loop::kEndedByKernel:
      Explain(
          "a WHILE node starts with a value other than 0, and the kernel that sets it to 0 doesn't "
          "run here: its body is run once a launch");
      return CUDA_SUCCESS;
    case Loop::kEndless:
      break;
  }
  Explain(
      "a WHILE node would loop for ever: its handle starts with a value other than 0, and no "
      "kernel of the graph has the handle among its arguments, nor does a host node run");
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

bool WaitsForValues(const Graph& graph) {
  return std::any_of(graph.order.begin(), graph.order.end(), [](const Node* node) {
    if (std::holds_alternative<std::unique_ptr<BatchParams>>(node->params)) return true;
    const Graph* inner = Inner(node->params);
    return inner != nullptr && WaitsForValues(*inner);
  });
}

Event* EventOf(const Node& node) {
  const auto* params = std::get_if<EventParams>(&node.params);
  return params != nullptr && params->event->tag == Event::kTag ? params->event : nullptr;
}

// The effect of an event node on times, and on the event.
void PassEvent(Stream* stream, const Node& node, Event* event) {
  if (node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    event->recorded = true;
    event->capture = 0;
    event->time_ns = stream->time_ns;
  } else {
    stream->time_ns = std::max(stream->time_ns, event->time_ns);
  }
}

CUresult RunInLine(Stream* stream, Graph* graph) {
  for (const Node* node : graph->order) {
    if (!node->enabled) continue;
    if (Event* event = EventOf(*node)) {
      PassEvent(stream, *node, event);
      if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        event->mark = End(stream);
      } else {
        Push(stream, {.what = "an event", .after = {event->mark}});
      }
    }
    Advance(stream, DurationNs(node->params, *stream->context->gpu));
    if (CUresult error = Apply(node->params); error != CUDA_SUCCESS) return error;
    if (Graph* inner = Inner(node->params)) {
      if (CUresult error = RunInLine(stream, inner); error != CUDA_SUCCESS) return error;
    }
    for (Work& work : WorksOfNode(node->params)) Push(stream, std::move(work));
  }
  return CUDA_SUCCESS;
}

class Dag {
 public:
  explicit Dag(Stream* stream) : stream_(stream) {}

  // Runs the graph after `start`, which becomes the end of it.
  CUresult Run(Graph* graph, Marks& start) {
    std::unordered_map<const Node*, Marks> ends;
    Marks all = graph->order.empty() ? start : Marks{};
    for (const Node* node : graph->order) {
      Marks marks = node->in.empty() ? start : Marks{};
      for (const Edge& edge : node->in) Append(marks, ends[edge.node]);
      if (node->enabled) {
        if (CUresult error = RunNode(*node, marks); error != CUDA_SUCCESS) return error;
      }
      Join(marks);
      if (node->out.empty()) Append(all, marks);
      ends[node] = std::move(marks);
    }
    Join(all);
    start = std::move(all);
    return CUDA_SUCCESS;
  }

 private:
  static void Append(Marks& marks, const Marks& more) {
    marks.insert(marks.end(), more.begin(), more.end());
  }

  // One mark for several.
  static void Join(Marks& marks) {
    std::erase_if(marks, [](const WorkMark& m) { return m.line == nullptr; });
    if (marks.size() < 2) return;
    const auto line = std::make_shared<WorkLine>();
    WorkMark end = Device::Get().worker.Add(line, {.what = "a node", .after = std::move(marks)});
    marks = {std::move(end)};
  }

  CUresult RunNode(const Node& node, Marks& marks) {
    if (Event* event = EventOf(node)) {
      PassEvent(stream_, node, event);
      Join(marks);
      if (node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        event->mark = marks.empty() ? WorkMark{} : marks.front();
      } else {
        marks.push_back(event->mark);
      }
    }
    Advance(stream_, DurationNs(node.params, *stream_->context->gpu));
    if (CUresult error = Apply(node.params); error != CUDA_SUCCESS) return error;
    if (Graph* inner = Inner(node.params)) {
      if (CUresult error = Run(inner, marks); error != CUDA_SUCCESS) return error;
    }
    std::vector<Work> works = WorksOfNode(node.params);
    if (works.empty()) return CUDA_SUCCESS;
    works.front().after = std::move(marks);
    marks.clear();
    const auto line = std::make_shared<WorkLine>();
    for (Work& work : works) Device::Get().worker.Add(line, std::move(work));
    marks.push_back(Device::Get().worker.End(line));
    return CUDA_SUCCESS;
  }

  Stream* stream_;
};

}  // namespace

CUresult RunGraph(Stream* stream, Graph* graph) {
  if (graph->conditional_nodes > 0) {
    if (CUresult error = CheckLoops(*graph); error != CUDA_SUCCESS) return error;
    for (Work& work : StartsOfHandles(*graph)) Push(stream, std::move(work));
  }
  if (!Device::Get().worker.always_adds() && !WaitsForValues(*graph)) {
    return RunInLine(stream, graph);
  }
  Marks marks = {End(stream)};
  const CUresult result = Dag(stream).Run(graph, marks);
  Push(stream, {.what = "a graph", .after = std::move(marks)});
  return result;
}

}  // namespace graphkit::soft::driver
