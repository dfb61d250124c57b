// Nodes: their records, the edges that they come with, and the graphs that they hold.
#include "plugins/cupti_tracer/recorder/recorder.h"

namespace graphkit {
namespace {

// Describes a node, or work outside of graphs, in its record.
template <typename Record>
void Describe(const Work& work, Records& records, Record& r) {
  r.row.kernel = work.kernel;
  r.shape = work.shape;
  r.row.accesses_complete = work.complete;
  r.row.accesses = records.Add(work.accesses);
  if constexpr (requires { r.row.event; }) r.row.event = work.event;
  if constexpr (requires { r.row.block; }) r.row.block = work.block;
  if constexpr (requires { r.collectives; }) r.collectives = records.Add(work.collectives);
  if constexpr (requires { r.scalars; }) r.scalars = records.Add(work.scalars);
  if constexpr (requires { r.host_ends; }) r.host_ends = records.Add(work.host_ends);
}

bool IsOfCall(const Call& call, const NodeDraft& node, const Copies& copies) {
  if (call.kind == CallKind::kAddNode) return node.graph == call.graph;
  return Is(call.kind, KindRow::kCaptured) && !copies.IsMade(node.graph);
}

}  // namespace

// Writes the record of the node at hand, and of the edges that lead into it.
void Recorder::Flush(ThreadState& thread, const Call& call) {
  if (!draft_.open) return;
  draft_.open = false;
  draft_.of_call = IsOfCall(call, draft_, copies_);
  GraphInfo& graph = GraphOf(thread, call);
  WriteNode(thread, call, graph, draft_.of_call ? CapturingStream(thread, call, graph) : nullptr);
}

// The graph of the node at hand: maybe a capture's, which had no handle so far.
GraphInfo& Recorder::GraphOf(const ThreadState& thread, const Call& call) {
  GraphInfo* known = graphs_.Find(draft_.graph);
  if (known == nullptr && draft_.of_call && call.stream != kNoStream) {
    CaptureInfo* capture = streams_.Of(thread, call).capture;
    GraphInfo* waiting = capture != nullptr ? graphs_.Find(capture->graph_handle) : nullptr;
    if (waiting != nullptr && waiting->handle == ~uint64_t{capture->id.value}) {
      graphs_.SetHandle(*waiting, draft_.graph);
      capture->graph_handle = draft_.graph;
      return *waiting;
    }
  }
  return known != nullptr ? *known : graphs_.Of(draft_.graph);
}

StreamInfo* Recorder::CapturingStream(const ThreadState& thread, const Call& call,
                                      const GraphInfo& graph) {
  if (call.stream == kNoStream || call.kind == CallKind::kAddNode) return nullptr;
  StreamInfo& stream = streams_.Of(thread, call);
  if (stream.capture == nullptr) {  // joined in a way that went unseen
    if (CaptureInfo* capture = streams_.CaptureInto(graph.id))
      streams_.JoinCapture(stream, *capture);
  }
  return &stream;
}

void Recorder::WriteNode(ThreadState& thread, const Call& call, GraphInfo& graph,
                         StreamInfo* stream) {
  threads_.BeforeWork(thread);
  const NodeDraft& draft = draft_;
  const Copies::Clone* clone = draft.of_call ? nullptr : copies_.CloneOf(draft.handle);
  work_.Clear(draft.kind);
  if (draft.of_call) ReadWork(thread, call);
  if (clone != nullptr && !draft.embeds()) work_reader_.ReadRecord(clone->original.place, work_);
  const ThreadId thread_id = threads_.IdOf(thread);
  const uint32_t host_read = HostReadOfDraft(call, clone);
  std::vector<Copies::Graph> claimed;
  if (draft.embeds()) claimed = copies_.ClaimFor(draft, call);
  std::vector<GraphId> bodies;

  NodeRecord r;
  r.id = graphs_.NewNode();
  r.row.graph = graph.id;
  r.row.kind = draft.kind;
  if (stream != nullptr) r.row.stream = stream->id;
  r.row.thread = thread_id;
  r.row.stack = call.stack;
  if (draft.kind == NodeKind::kChildGraph) {
    const GraphInfo* moved = copies_.MovedBy(draft, call);
    r.child = !claimed.empty() ? graphs_.next() : moved != nullptr ? moved->id : GraphId();
  }
  if (draft.kind == NodeKind::kConditional && draft.of_call) {
    r.row.conditional = call.conditional;
    for (uint32_t i = 0; i < claimed.size(); ++i) bodies.emplace_back(graphs_.next().value + i);
    r.bodies = bodies;
  }
  Describe(work_, records_, r);
  memory_.OnNodeTouches(work_.elsewhere);
  const uint64_t place = records_.Counted(records_.Write(call, r), &RecordCounts::nodes);
  NodeInfo& node = graphs_.AddNode(
      graph, draft.handle,
      {.id = r.id,
       .graph = graph.id,
       .kind = draft.kind,
       .copies_stack = work_.copies_stack(),
       .host_read = host_read,
       .place = place,
       .fingerprint = clone != nullptr ? clone->original.fingerprint : work_.fingerprint});
  if (draft.of_call && node.kind == NodeKind::kKernel && call.kernel.updatable)
    WriteUpdatable(call, node);
  if (clone != nullptr) WriteInherited(call, node, clone->original);
  for (const uint64_t dependency : draft.dependencies) {
    const NodeInfo* from = graphs_.FindNode(dependency);
    if (from == nullptr) continue;
    graphs_.AddEdge(&graph, r.id,
                    EdgeData(call, stream, dependency, draft.handle, *from, draft.kind));
  }
  if (stream != nullptr) streams_.Advance(call, *stream, r.id, edge_data_);
  if (draft.embeds()) WriteClaimed(call, r.id, claimed);
}

uint32_t Recorder::HostReadOfDraft(const Call& call, const Copies::Clone* clone) {
  if (draft_.of_call) return HostReadOf(call);
  return clone != nullptr ? clone->original.host_read : HostContent::kNone;
}

// Of the node at hand, made or set by the call.
uint32_t Recorder::HostReadOf(const Call& call) {
  if (work_.kind != NodeKind::kMemcpy || !call.operations.empty()) return HostContent::kNone;
  return host_content_.Watch(call.own);
}

// Reads the call's parameters for the node at hand, and writes the records that they refer to.
void Recorder::ReadWork(ThreadState& thread, const Call& call) {
  switch (work_.kind) {
    case NodeKind::kKernel:
      work_reader_.ReadKernel(call.kernel, work_);
      if (!thread.nccl_calls.empty()) communicators_.Attach(thread, call, work_);
      return;
    case NodeKind::kMemcpy:
    case NodeKind::kMemset:
    case NodeKind::kBatchMemOp:
    case NodeKind::kUnknown:
      work_reader_.ReadOperations(call.own, call.operations, work_);
      work_.fingerprint = DetailsOf(call);
      return;
    case NodeKind::kHost:
      work_.fingerprint = call.details;
      return;
    case NodeKind::kEmpty:
      work_.fingerprint = Fingerprint().value();
      return;
    case NodeKind::kExternalSemaphoreSignal:
    case NodeKind::kExternalSemaphoreWait:
      work_.complete = true;  // they touch no memory that is handed out
      return;
    case NodeKind::kEventWait:
    case NodeKind::kEventRecord:
      work_.event = streams_.EventOf(call.event).id;
      work_.fingerprint = Fingerprint{work_.event.value}.value();
      return;
    case NodeKind::kMemAlloc:
      work_.block = memory_.OnAllocNode(thread, call, graphs_.IdOf(draft_.graph));
      return;
    case NodeKind::kMemFree:
      work_.block = memory_.OnFreeNode(call);
      return;
    default:
      return;
  }
}

// A copy or a memset as a whole; of batches it isn't known.
uint64_t Recorder::DetailsOf(const Call& call) {
  if (call.details == Fingerprint::kUnknown || !call.operations.empty())
    return Fingerprint::kUnknown;
  Fingerprint all{call.details};
  for (uint32_t i = 0; i < call.own.touch_count; ++i) all.Add(call.own.touches[i].address);
  return all.value();
}

// The properties that a clone inherits from its original, beyond its work.
void Recorder::WriteInherited(const Call& call, NodeInfo& node, const NodeInfo& original) {
  if (original.updatable) WriteUpdatable(call, node);
  if (!original.off) return;
  NodeSetRecord r;
  r.row.node = node.id;
  r.row.what = NodeChangeKind::kDisabled;
  records_.Write(call, r);
}

void Recorder::WriteUpdatable(const Call& call, NodeInfo& node) {
  node.updatable = true;
  NodeSetRecord r;
  r.row.node = node.id;
  r.row.what = NodeChangeKind::kUpdatable;
  records_.Write(call, r);
}

// The graphs that the node at hand holds.
void Recorder::WriteClaimed(const Call& call, NodeId parent,
                            const std::vector<Copies::Graph>& claimed) {
  const bool conditional = draft_.kind == NodeKind::kConditional;
  const bool is_new = conditional && draft_.of_call;
  for (uint32_t i = 0; i < claimed.size(); ++i) {
    graphs_.Add(
        {.handle = claimed[i].handle,
         .origin = conditional ? GraphOrigin::kBody : GraphOrigin::kChild,
         .tool_id = claimed[i].tool_id,
         .original = is_new ? GraphId() : copies_.SourceOf(claimed[i].original, draft_, call),
         .parent = parent,
         .body = i});
  }
  if (GraphInfo* moved = copies_.MovedBy(draft_, call)) graphs_.Embed(*moved, parent);
}

FrontierEntry Recorder::EdgeData(const Call& call, StreamInfo* stream, uint64_t from, uint64_t to,
                                 const NodeInfo& producer, NodeKind consumer) {
  if (const FrontierEntry* data = copies_.EdgeData(from, to)) {
    return {producer.id, data->from_port, data->edge_type};
  }
  for (const Dependency& given : call.dependencies) {
    if (given.from == from && (given.to == to || given.to == 0)) {
      return {producer.id, given.from_port, given.type};
    }
  }
  if (stream == nullptr) return {producer.id, kPortDefault, 0};
  const bool programmatic = edge_data_ && consumer == NodeKind::kKernel &&
                            call.kernel.programmatic_serialization &&
                            producer.kind == NodeKind::kKernel;
  return EdgeDataFrom(stream->frontier, producer.id, programmatic);
}

// Full, or met for the first time.
void Recorder::SettleCount(ThreadState& thread, const Call& call, EagerCounts::Outcome counted) {
  using Outcome = EagerCounts::Outcome;
  // Meanwhile another thread may have taken the last place: then what is left over has one.
  if (counted == Outcome::kNoPlace) counted = eager_counts_.Count(thread, call);
  if (counted == Outcome::kFull) WriteCounts(call.time);
  if (counted != Outcome::kNoPlace) return;
  const ThreadId thread_id = threads_.IdOf(thread);
  eager_counts_.Claim(thread, call, thread_id, streams_.IdOf(thread, call));
}

// Work that runs at once: described as a node would be. Where the host waits for it is recorded
// also of work that isn't, as it orders what is; and functions of the host are, which may.
void Recorder::OnWork(ThreadState& thread, const Call& call) {
  if (!thread.events.empty()) return;
  work_.Clear(call.kernel.function != 0 ? NodeKind::kKernel : call.work_kind);
  ReadWork(thread, call);
  const HostWait waits = HostWaits(call);
  const bool recorded =
      eager_ || streams_.capturing() || work_.of_graphs || work_.kind == NodeKind::kHost;
  if (!recorded && waits == HostWait::kNone) return;
  threads_.BeforeWork(thread);
  const ThreadId thread_id = threads_.IdOf(thread);
  const StreamId stream = streams_.IdOf(thread, call);
  if (waits != HostWait::kNone && (!recorded || waits == HostWait::kBefore))
    streams_.SyncStream(call, threads_.FurtherIdOf(thread), stream);
  if (!recorded) return;
  host_content_.OnWork(call.own);
  WorkRecord r;
  r.row.kind = work_.kind;
  r.row.stream = stream;
  r.row.thread = thread_id;
  r.row.stack = call.stack;
  Describe(work_, records_, r);
  records_.Write(call, r);
  if (waits != HostWait::kAfter) return;
  host_content_.OnHostWait();
  streams_.SyncStream(call, threads_.FurtherIdOf(thread), stream);
}

// For its stream, when a call returns that submits work (CUDA Driver API, "API synchronization
// behavior"). Memory that isn't the driver's is pageable memory of the host.
//
//     copies, without Async    device to host, page-locked or not         waits
//                              page-locked or managed to device           waits
//                              pageable to device                         waits for what was
//                              before,
//                                                                         then the bytes are taken
//                              device to device                           doesn't wait
//     copies, Async            device to pageable                         waits (as CUDA 12.0's
//     page
//                                                                         and before have it)
//     memsets, without Async   of page-locked or managed memory           waits
Recorder::HostWait Recorder::HostWaits(const Call& call) const {
  const bool copies = call.work_kind == NodeKind::kMemcpy;
  if (!copies && call.work_kind != NodeKind::kMemset) return HostWait::kNone;
  bool from_pageable = false, to_pageable = false, locked = false;
  for (const TouchedMemory& touch : std::span(call.own.touches, call.own.touch_count)) {
    const auto place = memory_.Find(touch.address);
    if (!place && copies) (touch.write ? to_pageable : from_pageable) = true;
    locked = locked || (place && place->on_host);
  }
  if (to_pageable || (call.blocking && (locked || call.to_host))) return HostWait::kAfter;
  return call.blocking && from_pageable ? HostWait::kBefore : HostWait::kNone;
}

void Recorder::OnUpdatable(ThreadState&, const Call& call) {
  NodeInfo* node = graphs_.FindNode(call.node);
  if (node != nullptr && call.flags != 0) WriteUpdatable(call, *node);
}

void Recorder::OnNodeSet(ThreadState& thread, const Call& call) {
  NodeInfo* node = graphs_.FindNode(call.node);
  ExecInfo* exec = call.exec != 0 ? execs_.Find(call.exec) : nullptr;
  if (node == nullptr || (call.exec != 0 && exec == nullptr)) return;
  const bool params = call.kind == CallKind::kNodeSet;
  const bool memory = node->kind == NodeKind::kMemAlloc || node->kind == NodeKind::kMemFree;
  const bool child = node->kind == NodeKind::kChildGraph;
  NodeSetRecord r;
  r.row.node = node->id;
  if (exec != nullptr) r.row.exec = exec->id;
  r.row.what = call.flags != 0 ? NodeChangeKind::kEnabled : NodeChangeKind::kDisabled;
  if (child && call.original != 0) r.row.child = graphs_.Of(call.original).id;
  ExecInfo::Node* of_exec = exec != nullptr ? exec->Find(node->id) : nullptr;
  NodeInfo* changed = of_exec != nullptr ? &of_exec->now : nullptr;
  if (exec == nullptr) changed = node;
  work_.Clear(node->kind);
  if (params) {
    if (!memory) ReadWork(thread, call);
    memory_.OnNodeTouches(work_.elsewhere);
    r.row.what = NodeChangeKind::kParams;
    r.row.same = changed != nullptr && changed->Equals(work_.fingerprint) &&
                 (exec == nullptr || !exec->unseen_update);
    r.row.back = exec == nullptr && execs_.HaveAlready(*node, work_.fingerprint);
    Describe(work_, records_, r);
  }
  const uint64_t place = records_.Write(call, r);
  if (child && exec != nullptr) {
    if (exec->HasNodesInside(node->id)) exec->unseen_update = true;
    return;
  }
  if (changed != nullptr && params) {
    TakeWork(call, place, changed, exec);
  } else if (changed != nullptr) {
    changed->off = call.flags == 0;
  }
}

// What was read of a node's new parameters, for the node, or for an exec's.
void Recorder::TakeWork(const Call& call, uint64_t place, NodeInfo* changed, ExecInfo* exec) {
  changed->place = place;
  changed->fingerprint = work_.fingerprint;
  changed->copies_stack = work_.copies_stack();
  changed->host_read = HostReadOf(call);
  if (exec == nullptr) return;
  exec->copies_stack |= changed->copies_stack;
  exec->AddHostRead(changed->host_read);
}

}  // namespace graphkit
