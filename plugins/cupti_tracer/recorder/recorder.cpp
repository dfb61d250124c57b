#include "plugins/cupti_tracer/recorder/recorder.h"

#include <algorithm>
#include <utility>

namespace graphkit {

// Takes the thread's memory to work in, or gives it back.
void Recorder::SwapSpace(ThreadState& thread) {
  records_.SwapLine(thread.space.line);
  std::swap(draft_.dependencies, thread.space.dependencies);
  std::swap(work_.accesses, thread.space.found);
  std::swap(work_.scalars, thread.space.scalars);
}

void Recorder::Exit(ThreadState& thread, const Call& call) {
  static constexpr void (Recorder::*kHandlers[])(ThreadState&, const Call&) = {
#define KIND(name, taken, traits, handler) &Recorder::handler,
#include "plugins/cupti_tracer/calls/call_kinds.def"
#undef KIND
  };
  SwapSpace(thread);
  thread.context = call.context;
  memory_.Settle(thread);
  const bool succeeded = call.result == 0;
  if (succeeded || Is(call.kind, KindRow::kAnswered)) {
    (this->*kHandlers[static_cast<size_t>(call.kind)])(thread, call);
  } else {
    Failed(thread, call);
  }
  // A free that is captured is a node, and frees nothing yet.
  EndTaken(thread, call, succeeded && (call.kind != CallKind::kFree || thread.events.empty()));
  ApplyEvents(thread, call);
  watch_.SetCapturing(streams_.capturing());
  SwapSpace(thread);
}

void Recorder::Nothing(ThreadState&, const Call&) {}  // the graph events have it all

void Recorder::OnStreamCreate(ThreadState&, const Call& call) { streams_.Create(call); }

void Recorder::OnEventCreate(ThreadState&, const Call& call) {
  streams_.EndEvent(call.event, Source::kDerived);  // the one that had the handle before
}

void Recorder::OnTensorMap(ThreadState&, const Call& call) {
  work_reader_.AddTensorMap(call.tensor_map, call.address, call.extent);
  watch_.SeeTensorMap();
}
void Recorder::OnPhysical(ThreadState&, const Call& call) { memory_.OnPhysical(call); }
void Recorder::OnPhysicalRelease(ThreadState&, const Call& call) {
  memory_.OnPhysicalRelease(call.physical);
}
void Recorder::OnUnreserve(ThreadState&, const Call& call) { memory_.OnUnreserve(call); }
void Recorder::OnShare(ThreadState&, const Call& call) { memory_.OnShare(call); }
void Recorder::OnPoolCreate(ThreadState&, const Call& call) { memory_.OnPoolCreate(call); }
void Recorder::OnPoolMet(ThreadState&, const Call& call) { memory_.OnPoolMet(call); }

void Recorder::OnSync(ThreadState& thread, const Call& call) {
  host_content_.OnHostWait();
  streams_.Sync(thread, threads_.FurtherIdOf(thread), call);
}

void Recorder::OnEventRecord(ThreadState& thread, const Call& call) {
  StreamInfo& stream = streams_.Of(thread, call);
  if (thread.events.empty()) {
    return streams_.RecordEvent(call, threads_.FurtherIdOf(thread), stream, call.event);
  }
  streams_.EventOf(call.event);
  ApplyEvents(thread, call);  // an external record is a node
  streams_.RecordExternal(call, stream);
}

void Recorder::OnEventWait(ThreadState& thread, const Call& call) {
  StreamInfo& stream = streams_.Of(thread, call);
  streams_.EventOf(call.event);
  const bool external = !thread.events.empty();
  if (external) ApplyEvents(thread, call);
  streams_.Wait(call, stream, external);
}

void Recorder::OnAlloc(ThreadState& thread, const Call& call) {
  if (thread.events.empty()) memory_.OnAlloc(thread, call);  // else it is a node
}

void Recorder::OnBeginCapture(ThreadState& thread, const Call& call) {
  StreamInfo& stream = streams_.Of(thread, call);
  const ThreadId thread_id = threads_.IdOf(thread);
  GraphInfo* graph = call.graph != 0 ? &graphs_.Of(call.graph) : nullptr;
  for (const GraphEvent& event : thread.events) {
    if (graph == nullptr && event.kind == GraphEventKind::kGraphCreated) {
      graph = &graphs_.Add({.handle = event.graph,
                            .origin = GraphOrigin::kCapture,
                            .tool_id = event.tool_id,
                            .name = thread.next_graph});
    }
  }
  thread.events.clear();
  // A graph that wasn't announced gets its handle from its first node.
  if (graph == nullptr) {
    graph = &graphs_.Add({.handle = ~uint64_t{streams_.next_capture().value},
                          .origin = GraphOrigin::kCapture,
                          .name = thread.next_graph});
  }
  thread.next_graph.clear();
  streams_.Begin(call, stream, thread_id, graph->id, graph->handle,
                 graphs_.EntriesOf(call.dependencies));
  if (call.recapture)
    records_.WriteNote("graph " + std::to_string(graph->id.value) +
                       " was captured again over its own nodes: what they do since isn't known");
}

void Recorder::OnUpdateDependencies(ThreadState& thread, const Call& call) {
  streams_.UpdateFrontier(thread, call, graphs_.EntriesOf(call.dependencies));
}

void Recorder::OnEndCapture(ThreadState& thread, const Call& call) {
  const StreamInfo& stream = streams_.Of(thread, call);
  CaptureInfo* capture = stream.capture;
  const bool failed = call.result != 0;
  if (capture == nullptr || capture->origin != &stream) {
    if (failed) Failed(thread, call);
    return;
  }
  if (failed && capture->failure == CaptureInfo::kNoFailure)
    WriteFailure(thread, call, call.result, capture);
  if (failed) thread.failed = 0;  // told
  CaptureEndRecord r;
  r.capture = capture->id;
  r.error = call.result;
  if (failed) r.failure = capture->failure;
  records_.Write(call, r);
  if (failed) DiscardGraph(*capture);
  streams_.Close(*capture);
}

// The graph of a capture that failed goes; one that is in a node stays, empty.
void Recorder::DiscardGraph(const CaptureInfo& capture) {
  if (capture.discarded) return graphs_.WriteEnd(capture.discarded, Source::kCallback);
  GraphInfo* graph = graphs_.Find(capture.graph_handle);
  if (graph == nullptr || graph->id != capture.graph) return;  // another's by now
  if (graph->parent) return graphs_.EndNodes(*graph, true);
  graphs_.End(capture.graph_handle, Source::kCallback);
}

void Recorder::OnInstantiate(ThreadState& thread, const Call& call) {
  execs_.Instantiate(call, graphs_.Of(call.graph), thread.exec_nodes, graphs_);
  if (const ExecInfo* exec = execs_.Find(call.exec))
    execs_.WriteReading(call, *exec, ExecCall::kInstantiate);
  thread.exec_nodes = {};  // not needed again soon, and as many as the graph has nodes
}

void Recorder::OnExecUpdate(ThreadState& thread, const Call& call) {
  if (ExecInfo* exec = execs_.Find(call.exec)) {
    constexpr uint64_t kFailed = 1;
    const uint64_t outcome = call.result != 0 && call.flags == 0 ? kFailed : call.flags;
    const GraphInfo& graph = graphs_.Of(call.graph);
    ExecUpdate update{exec->id, graph.id, static_cast<int32_t>(outcome)};
    if (outcome != 0) {
      const NodeInfo *node = graphs_.FindNode(call.node), *from = graphs_.FindNode(call.from_node);
      if (node != nullptr) update.node = node->id;
      if (from != nullptr) update.from = from->id;
    }
    if (outcome == 0) {
      exec->graph = graph.id;
      update.same = exec->Update(graph, graphs_);
    }
    execs_.WriteUpdate(call, update);
  }
  if (call.result != 0) Failed(thread, call);
}

void Recorder::OnGraphLaunch(ThreadState& thread, const Call& call) {
  const bool captured =
      std::ranges::count(thread.events, GraphEventKind::kNodeStarting, &GraphEvent::kind) != 0;
  if (captured) return;  // a child graph node
  thread.events.clear();
  const StreamId stream = streams_.IdOf(thread, call);
  ExecInfo* exec = execs_.Find(call.exec);
  if (exec == nullptr) return;
  threads_.BeforeWork(thread);
  if (call.stack_top != 0) {
    StackTopRecord r;
    r.row.thread = threads_.IdOf(thread);
    r.row.address = call.stack_top;
    records_.Write(call, r);
    ++exec->stack_tops;
  }
  host_content_.OnLaunch(exec->host_reads);
  execs_.Launch(*exec,
                {.stream = stream,
                 .thread = threads_.FurtherIdOf(thread),
                 .correlation = call.correlation,
                 .stack = call.stack},
                call.time);
  execs_.WriteReading(call, *exec, ExecCall::kLaunch);
}

bool Recorder::Relaunch(ThreadState& thread, const GraphLaunch& launch) {
  ExecInfo* exec = execs_.Find(launch.exec);
  if (exec == nullptr || !exec->launched || AsksStack(*exec)) return false;
  const StreamId stream = streams_.KnownIdOf(thread, launch.stream, launch.context);
  if (!stream) return false;
  records_.SwapLine(thread.space.line);
  thread.context = launch.context;
  memory_.Settle(thread);
  threads_.BeforeWork(thread);
  host_content_.OnLaunch(exec->host_reads);
  execs_.Launch(*exec,
                {.stream = stream,
                 .thread = threads_.FurtherIdOf(thread),
                 .correlation = launch.correlation,
                 .stack = launch.stack},
                launch.time);
  records_.SwapLine(thread.space.line);
  return true;
}

void Recorder::OnGraphUpload(ThreadState&, const Call& call) {
  if (const ExecInfo* exec = execs_.Find(call.exec))
    execs_.WriteReading(call, *exec, ExecCall::kUpload);
}

}  // namespace graphkit
