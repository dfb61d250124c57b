// A program as the recorder sees it, call by call, with made-up handles: what CUPTI would tell, in
// the order in which it tells it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cupti_tracer/recorder/recorder.h"

namespace graphkit {

// Handles of streams, of graphs and of an exec.
inline constexpr uint64_t kStream = 0x100, kMain = 0x100, kSide = 0x200;
inline constexpr uint64_t kGraph = 0x1000, kOther = 0x2000, kInner = 0x3000;
inline constexpr uint64_t kExec = 0x9000;

// Keeps the records, without their times.
class ListSink : public RecordSink {
 public:
  uint64_t Append(std::string_view record) override {
    std::string line(record);
    size_t at = line.find(",\"t\":");
    if (at != std::string::npos) line.erase(at, line.find_first_of(",}", at + 1) - at);
    records.push_back(line);
    return records.size() - 1;
  }
  std::string_view Read(uint64_t place) const override { return records[place]; }

  std::vector<std::string> records;
};

class Script {
 public:
  Script() { thread.tid = 100; }

  ListSink sink;
  Recorder recorder{sink};
  ThreadState thread;

  // One driver call, from its beginning to its end, with the graph events inside it.
  void Do(Call call, std::vector<GraphEvent> events = {}, int32_t result = 0) {
    DoOn(thread, std::move(call), std::move(events), result);
  }
  void DoOn(ThreadState& on, Call call, std::vector<GraphEvent> events = {}, int32_t result = 0) {
    call.result = result;
    recorder.Enter(on, call);
    on.events = std::move(events);
    recorder.Exit(on, call);
    on.events.clear();
  }

  void CreateStream(uint64_t stream, bool non_blocking = false) {
    Call call = Of(CallKind::kStreamCreate);
    call.stream = stream;
    call.flags = non_blocking ? 1 : 0;
    Do(call);
  }
  void BeginCapture(uint64_t stream, uint64_t graph) {
    Call call = Of(CallKind::kBeginCapture);
    call.stream = stream;
    Do(call, {Created(graph)});
  }
  void EndCapture(uint64_t stream, int32_t error = 0) {
    Call call = Of(CallKind::kEndCapture, "cuStreamEndCapture");
    call.stream = stream;
    Do(call, {}, error);
  }
  // As CUPTI tells it: the destruction begins inside the call.
  void DestroyGraph(uint64_t graph) {
    Call call = Of(CallKind::kGraphDestroy);
    call.graph = graph;
    recorder.Enter(thread, call);
    recorder.OnGraphDestroyed(thread, graph);
    recorder.Exit(thread, call);
  }
  void RecordEvent(uint64_t event, uint64_t stream) {
    Call call = Of(CallKind::kEventRecord);
    call.event = event;
    call.stream = stream;
    Do(call);
  }
  void WaitEvent(uint64_t stream, uint64_t event) {
    Call call = Of(CallKind::kEventWait);
    call.event = event;
    call.stream = stream;
    Do(call);
  }
  // A kernel without arguments, captured as `node`.
  void Kernel(uint64_t stream, uint64_t graph, uint64_t node, std::vector<uint64_t> after = {}) {
    Do(Work(stream), Node(graph, node, NodeKind::kKernel, after));
  }
  void Malloc(uint64_t address, uint64_t size) {
    Call call = Of(CallKind::kAlloc);
    call.address = address;
    call.size = size;
    Do(call);
  }
  void Free(uint64_t address) {
    Call call = Of(CallKind::kFree);
    call.address = address;
    Do(call);
  }

  static Call Of(CallKind kind, const char* name = "") {
    Call call;
    call.kind = kind;
    call.name = name;
    return call;
  }
  static Call Work(uint64_t stream, const char* name = "") {
    Call call = Of(CallKind::kWork, name);
    call.stream = stream;
    return call;
  }
  static GraphEvent Created(uint64_t graph) {
    GraphEvent event;
    event.kind = GraphEventKind::kGraphCreated;
    event.graph = graph;
    return event;
  }
  static GraphEvent OfNode(GraphEventKind kind, uint64_t graph, uint64_t node) {
    GraphEvent event;
    event.kind = kind;
    event.graph = graph;
    event.node = node;
    return event;
  }
  static GraphEvent Dependency(uint64_t graph, uint64_t from, uint64_t to) {
    GraphEvent event = OfNode(GraphEventKind::kDependencyCreated, graph, to);
    event.dependency = from;
    return event;
  }
  // 12, 15 for each dependency, 13: as CUPTI tells of a new node.
  static std::vector<GraphEvent> Node(uint64_t graph, uint64_t node, NodeKind kind,
                                      const std::vector<uint64_t>& after = {}) {
    std::vector<GraphEvent> events{OfNode(GraphEventKind::kNodeStarting, graph, node)};
    events[0].node_type = static_cast<uint8_t>(kind);
    for (uint64_t from : after) events.push_back(Dependency(graph, from, node));
    events.push_back(OfNode(GraphEventKind::kNodeCreated, graph, node));
    return events;
  }

  // The records that begin with `{"type":"<type>"`.
  std::vector<std::string> Records(std::string_view type) const {
    std::string begin = "{\"type\":\"" + std::string(type) + "\"";
    std::vector<std::string> found;
    for (const std::string& record : sink.records) {
      if (record.starts_with(begin)) found.push_back(record);
    }
    return found;
  }
};

inline Call AddTo(uint64_t graph) {
  Call call = Script::Of(CallKind::kAddNode);
  call.graph = graph;
  return call;
}

inline void Create(Script& s, uint64_t graph) {
  s.Do(Script::Of(CallKind::kGraphCreate), {Script::Created(graph)});
}
// kExec, of the graph.
inline void Instantiate(Script& s, uint64_t graph) {
  Call instantiate = Script::Of(CallKind::kInstantiate);
  instantiate.graph = graph;
  instantiate.exec = kExec;
  s.Do(instantiate);
}

inline std::vector<GraphEvent> operator+(std::vector<GraphEvent> a,
                                         const std::vector<GraphEvent>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline GraphEvent Cloned(uint64_t graph, uint64_t node, uint64_t original) {
  GraphEvent event = Script::OfNode(GraphEventKind::kNodeCloned, graph, node);
  event.original_node = original;
  return event;
}

using Lines = std::vector<std::string>;

}  // namespace graphkit
