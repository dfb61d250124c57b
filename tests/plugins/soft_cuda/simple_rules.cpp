#include "simple_rules.h"

namespace rules {
namespace {

bool IsPart(const Nodes& part, const Graph& graph) {
  for (int node : part) {
    if (node < 0 || node >= static_cast<int>(graph.nodes.size()) || graph.nodes[node].gone)
      return false;
  }
  return true;
}

// Every node at or before those of `set`.
Nodes Past(const Graph& graph, Nodes set) {
  for (bool grew = true; grew;) {
    const std::size_t before = set.size();
    for (int node : Nodes(set))
      set.insert(graph.nodes[node].after.begin(), graph.nodes[node].after.end());
    grew = set.size() > before;
  }
  return set;
}

}  // namespace

bool World::IsBefore(const Graph& graph, int first, int second) const {
  return first != second && Past(graph, {second}).contains(first);
}

bool World::HasCycle(const Graph& graph) const {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.gone) continue;
    if (node.cycle_inside || Past(graph, node.after).contains(static_cast<int>(i))) return true;
  }
  return false;
}

bool World::IsBehind(int stream, int allocation) const {
  const Stream& s = streams[stream];
  if (s.capture == kNone) return false;
  const Graph& graph = graphs[captures[s.capture].graph];
  for (int node : Past(graph, s.set)) {
    if (graph.nodes[node].type == Type::kAlloc && graph.nodes[node].allocation == allocation)
      return true;
  }
  return false;
}

bool World::HasMemory(const Graph& graph) const {
  for (const Node& node : graph.nodes) {
    if (!node.gone && (node.type == Type::kAlloc || node.type == Type::kFree)) return true;
  }
  return false;
}

bool World::AnyCapture() const {
  for (const Capture& capture : captures) {
    if (!capture.over) return true;
  }
  return false;
}

Error World::Begin(int stream, Mode mode, int into, const Nodes& after) {
  if (into != kNone) {
    const Graph& graph = graphs[into];
    if (graph.gone || graph.capture != kNone || !IsPart(after, graph)) return kInvalidValue;
  }
  if (streams[stream].capture != kNone) return kIllegalState;
  if (into == kNone) {
    into = static_cast<int>(graphs.size());
    graphs.emplace_back();
  }
  const int capture = static_cast<int>(captures.size());
  captures.push_back({into, stream, mode});
  graphs[into].capture = capture;
  streams[stream] = {capture, after, {}};
  return kOk;
}

void World::Over(int number) {
  captures[number].over = true;
  graphs[captures[number].graph].capture = kNone;
  for (Stream& stream : streams) {
    if (stream.capture == number) stream = {};
  }
}

Error World::End(int stream, int* result) {
  *result = kNone;
  const int number = streams[stream].capture;
  if (number == kNone) return kIllegalState;
  const Capture capture = captures[number];
  if (capture.origin != stream) {
    captures[number].valid = false;
    return kCaptureUnmatched;
  }
  Graph& graph = graphs[capture.graph];
  Nodes ends = streams[stream].set;
  ends.insert(capture.let_go.begin(), capture.let_go.end());
  const Nodes past = Past(graph, ends);
  bool joined = true;
  for (int node : capture.left) joined = joined && past.contains(node);
  for (const Stream& other : streams) {
    if (other.capture != number) continue;
    for (int node : other.set)
      joined = joined && (past.contains(node) || other.given.contains(node));
  }
  Over(number);
  if (capture.valid && joined) {
    *result = capture.graph;
    return kOk;
  }
  graph.gone = true;
  return capture.valid ? kCaptureUnjoined : kCaptureInvalidated;
}

void World::LeaveStream(int stream) {
  const int number = streams[stream].capture;
  if (number == kNone) return;
  if (captures[number].origin == stream) {
    captures[number].valid = false;
    graphs[captures[number].graph].gone = true;
    Over(number);
  } else {
    for (int node : streams[stream].set) {
      if (!streams[stream].given.contains(node)) captures[number].left.insert(node);
    }
  }
  streams[stream] = {};
}

Error World::Record(int event, int stream) {
  const int number = streams[stream].capture;
  if (number != kNone && !captures[number].valid) return kCaptureInvalidated;
  events[event] = {true, number, streams[stream].set};
  return kOk;
}

Error World::Wait(int stream, int number) {
  const Event& event = events[number];
  Stream& waiter = streams[stream];
  if (event.capture == kNone) {
    if (waiter.capture == kNone) return kOk;
    if (!captures[waiter.capture].valid) return kCaptureInvalidated;
    if (!event.recorded) return kOk;
    captures[waiter.capture].valid = false;
    return kCaptureIsolation;
  }
  if (captures[event.capture].over) return kCapturedEvent;
  if (!captures[event.capture].valid) return kCaptureInvalidated;
  if (waiter.capture != kNone && waiter.capture != event.capture) {
    captures[waiter.capture].valid = false;
    captures[event.capture].valid = false;
    return kCaptureMerge;
  }
  waiter.capture = event.capture;
  waiter.set.insert(event.set.begin(), event.set.end());
  return kOk;
}

Error World::Query(int number) {
  const Event& event = events[number];
  if (event.capture == kNone) return Unsafe();
  if (!captures[event.capture].over) captures[event.capture].valid = false;
  return kCapturedEvent;
}

Error World::Update(int stream, bool add, const Nodes& nodes) {
  const int number = streams[stream].capture;
  if (number == kNone) return kIllegalState;
  if (!IsPart(nodes, graphs[captures[number].graph])) return kInvalidValue;
  if (!captures[number].valid) return kIllegalState;
  if (!add) {
    captures[number].let_go.insert(streams[stream].set.begin(), streams[stream].set.end());
    streams[stream].set.clear();
  }
  streams[stream].set.insert(nodes.begin(), nodes.end());
  streams[stream].given.insert(nodes.begin(), nodes.end());
  return kOk;
}

// All captures are this thread's own.
Error World::Unsafe() {
  if (thread_mode == kRelaxed) return kOk;
  Error error = kOk;
  for (Capture& capture : captures) {
    if (capture.over || capture.mode == kRelaxed) continue;
    capture.valid = false;
    error = kCaptureUnsupported;
  }
  return error;
}

Error World::Synchronize(int stream) {
  const int number = streams[stream].capture;
  if (number == kNone) return Unsafe();
  captures[number].valid = false;
  return kCaptureUnsupported;
}

Error World::Work(int stream, Type type, int allocation) {
  Stream& s = streams[stream];
  if (s.capture == kNone) return type == Type::kAlloc ? Unsafe() : kOk;
  if (!captures[s.capture].valid) return kCaptureInvalidated;
  Graph& graph = graphs[captures[s.capture].graph];
  graph.nodes.push_back({type, s.set, allocation});
  s.set = {static_cast<int>(graph.nodes.size()) - 1};
  s.given.clear();
  return kOk;
}

bool World::CanFree(const Graph& graph, int number, int allocation) const {
  return allocations[allocation].graph != number ||
         (!graph.instantiated && !graph.freed_inside.contains(allocation));
}

Error World::FreeAsync(int stream, int allocation) {
  const int capture = streams[stream].capture;
  if (capture == kNone) {
    return live.erase(allocations[allocation].place) > 0 ? kOk : kInvalidValue;
  }
  if (!captures[capture].valid) return kCaptureInvalidated;
  const int number = captures[capture].graph;
  if (!CanFree(graphs[number], number, allocation)) return kInvalidValue;
  graphs[number].freed_inside.insert(allocation);
  return Work(stream, Type::kFree, allocation);
}

Error World::AddNode(int number, Type type, const Nodes& after, int allocation) {
  Graph& graph = graphs[number];
  if (graph.gone || !IsPart(after, graph)) return kInvalidValue;
  if (type == Type::kFree) {
    if (!CanFree(graph, number, allocation)) return kInvalidValue;
    graph.freed_inside.insert(allocation);
  }
  graph.nodes.push_back({type, after, allocation});
  return kOk;
}

Error World::AddEdge(int number, int from, int to) {
  Graph& graph = graphs[number];
  if (!IsPart({from, to}, graph) || from == to || graph.nodes[to].after.contains(from))
    return kInvalidValue;
  graph.nodes[to].after.insert(from);
  return kOk;
}

Error World::RemoveEdge(int number, int from, int to) {
  Graph& graph = graphs[number];
  if (HasMemory(graph)) return kFails;
  if (!IsPart({from, to}, graph) || !graph.nodes[to].after.contains(from)) return kInvalidValue;
  graph.nodes[to].after.erase(from);
  if (graph.capture != kNone) captures[graph.capture].let_go.insert(from);
  return kOk;
}

Error World::DestroyNode(int number, int node) {
  Graph& graph = graphs[number];
  if (HasMemory(graph)) return kFails;
  if (graph.capture != kNone) return kFails;
  for (Node& other : graph.nodes) other.after.erase(node);
  graph.nodes[node].gone = true;
  return kOk;
}

Error World::Clone(int number) {
  if (HasMemory(graphs[number])) return kNotSupported;
  graphs.push_back({graphs[number].nodes});
  return kOk;
}

Error World::AddChild(int number, int child, const Nodes& after) {
  if (graphs[child].capture != kNone) return kInvalidValue;
  if (HasMemory(graphs[child])) return kNotSupported;
  const bool cycle = HasCycle(graphs[child]);
  const Error error = AddNode(number, Type::kChild, after);
  if (error == kOk) graphs[number].nodes.back().cycle_inside = cycle;
  return error;
}

Error World::Instantiate(int number, int* exec) {
  Graph& graph = graphs[number];
  if (graph.capture != kNone) return kInvalidValue;
  if (HasMemory(graph) && graph.execs > 0) return kNotSupported;
  if (HasCycle(graph)) return kInvalidValue;
  if (const Error error = Unsafe(); error != kOk) return error;
  ++graph.execs;
  graph.instantiated = true;
  *exec = static_cast<int>(execs.size());
  execs.push_back({number, graph});
  return kOk;
}

Error World::DestroyGraph(int number) {
  if (graphs[number].capture != kNone) return kInvalidValue;
  graphs[number].gone = true;
  return kOk;
}

Error World::Launch(int number) {
  const Graph& graph = execs[number].copy;
  std::set<int> freed;
  for (const Node& node : graph.nodes) {
    if (node.type == Type::kAlloc && live.contains(allocations[node.allocation].place))
      return kInvalidValue;
    if (node.type == Type::kFree) freed.insert(node.allocation);
  }
  for (const Node& node : graph.nodes) {
    if (node.type == Type::kAlloc && !freed.contains(node.allocation))
      live.insert(allocations[node.allocation].place);
  }
  return kOk;
}

}  // namespace rules
