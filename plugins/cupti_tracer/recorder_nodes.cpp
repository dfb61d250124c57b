// Nodes: what they do, what they touch, and the edges that they come with.
#include <algorithm>
#include <cstring>

#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

constexpr size_t kWord = 8;  // bytes of a device address

// As calls have it: -1 is unknown.
Bytes LengthOf(int64_t length) { return length < 0 ? kLengthUnknown : static_cast<Bytes>(length); }

// Of two accesses to the same place.
AccessMode BothModes(AccessMode one, AccessMode other) {
  if (one == other) return one;
  const bool unknown = one == AccessMode::kUnknown || other == AccessMode::kUnknown;
  return unknown ? AccessMode::kUnknown : AccessMode::kReadWrite;
}

}  // namespace

template <typename Record>
void Recorder::DescribeWork(const Call& call, Record& r) {
  r.row.accesses_complete = IsComplete(call);
  if (fresh_.kind != NodeKind::kKernel) return;
  if (node_kernel_ != nullptr) r.row.kernel = node_kernel_->id;
  std::ranges::copy(call.kernel.grid, r.shape.grid);
  std::ranges::copy(call.kernel.block, r.shape.block);
  r.shape.shared_bytes = call.kernel.shared_bytes;
}

bool Recorder::IsTheCallsNode(const Call& call, const FreshNode& node) {
  if (call.kind == CallKind::kAddNode) return node.graph == call.graph;
  bool captured = call.kind == CallKind::kWork || call.kind == CallKind::kAlloc ||
                  call.kind == CallKind::kFree || call.kind == CallKind::kEventRecord ||
                  call.kind == CallKind::kEventWait || call.kind == CallKind::kGraphLaunch;
  return captured && made_.Find(node.graph) == nullptr;
}

Recorder::StreamInfo* Recorder::CapturingStream(ThreadState& thread, const Call& call,
                                                GraphInfo* graph) {
  if (call.stream == kNoStream || call.kind == CallKind::kAddNode) return nullptr;
  StreamInfo* stream = StreamOf(thread, call);
  if (stream->capture == nullptr) {  // joined in a way that went unseen
    for (auto& capture : captures_) {
      if (capture->graph == graph->id) JoinCapture(*stream, capture.get());
    }
  }
  return stream;
}

// Writes the record of the node at hand, and of the edges that lead into it.
void Recorder::Flush(ThreadState& thread, const Call& call) {
  if (!fresh_.open) return;
  fresh_.open = false;
  bool of_call = IsTheCallsNode(call, fresh_);
  GraphInfo* graph = FindGraph(fresh_.graph);
  if (graph == nullptr && of_call && call.stream != kNoStream) {
    StreamInfo* stream = StreamOf(thread, call);
    CaptureInfo* capture = stream->capture;
    auto* waiting = capture ? graphs_.Find(capture->graph_handle) : nullptr;
    if (waiting != nullptr && (*waiting)->handle == ~uint64_t{capture->id.value}) {
      auto owned = std::move(*waiting);  // the capture's graph had no handle so far
      graphs_.Erase(capture->graph_handle);
      owned->handle = capture->graph_handle = fresh_.graph;
      graph = graphs_.Insert(fresh_.graph, std::move(owned)).get();
    }
  }
  if (graph == nullptr) graph = GraphOf(fresh_.graph);
  WriteNode(thread, call, graph, of_call ? CapturingStream(thread, call, graph) : nullptr);
}

void Recorder::WriteNode(ThreadState& thread, const Call& call, GraphInfo* graph,
                         StreamInfo* stream) {
  if (thread.silent_ranges != 0) WriteRanges(thread);
  bool of_call = IsTheCallsNode(call, fresh_);
  bool embeds = fresh_.kind == NodeKind::kChildGraph || fresh_.kind == NodeKind::kConditional;
  const CloneInfo* clone = of_call ? nullptr : clones_.Find(fresh_.handle);
  NodeRecord r;
  const bool copied = clone != nullptr && !embeds && ReadWork(clone->original, r);
  if (!copied) PrepareNode(thread, call, of_call);
  ThreadId thread_id = ThreadOf(thread);
  if (embeds) ClaimGraphs(call, of_call);

  NodeId id(next_node_++);
  r.id = id;
  r.row.graph = graph->id;
  r.row.kind = fresh_.kind;
  r.row.stream = stream != nullptr ? stream->id : StreamId();
  r.row.thread = thread_id;
  r.row.stack = call.stack;
  if (!copied) DescribeNode(call, of_call, r);
  r.row.accesses = values_.Add(found_);
  r.collectives = values_.Add(found_collectives_);
  uint64_t place = Counted(Write(call, r), &RecordCounts::nodes);
  GiveNodeHandle(fresh_.handle);
  NodeInfo& node = nodes_.Insert(
      fresh_.handle, {.id = id, .graph = graph->id, .kind = fresh_.kind, .place = place});
  graph->nodes.push_back(fresh_.handle);
  if (of_call && node.kind == NodeKind::kKernel && call.kernel.updatable)
    WriteUpdatable(call, node);
  if (clone != nullptr) WriteInherited(call, node, clone->original);
  WriteIncomingEdges(call, graph, stream, id);
  if (stream != nullptr) AdvanceFrontier(call, *stream, id);
  if (embeds) WriteClaimedGraphs(call, id, of_call);
}

// Work that runs at once: described as a node would be.
void Recorder::OnEagerWork(ThreadState& thread, const Call& call) {
  if (thread.silent_ranges != 0) WriteRanges(thread);
  fresh_.kind = call.kernel.function != 0 ? NodeKind::kKernel : call.work_kind;
  nodes_made_ = 0;
  PrepareNode(thread, call, true);
  ThreadId thread_id = ThreadOf(thread);
  StreamId stream = StreamIdOf(thread, call);
  WorkRecord r;
  r.row.kind = fresh_.kind;
  r.row.stream = stream;
  r.row.thread = thread_id;
  DescribeWork(call, r);
  r.row.accesses = values_.Add(found_);
  r.collectives = values_.Add(found_collectives_);
  Write(call, r);
}

// Writes the records that the node's refers to, and finds what the node touches.
void Recorder::PrepareNode(ThreadState& thread, const Call& call, bool of_call) {
  found_.clear();
  found_collectives_.clear();
  node_block_ = {};
  node_event_ = {};
  node_kernel_ = nullptr;
  node_indirect_ = false;
  complete_ = false;
  if (!of_call) return;
  switch (fresh_.kind) {
    case NodeKind::kKernel:
      node_kernel_ = kernels_.Find(call.kernel.function, nullptr);
      if (node_kernel_ != nullptr) ScanArguments(call.kernel, *node_kernel_);
      break;
    case NodeKind::kMemcpy:
    case NodeKind::kMemset:
    case NodeKind::kBatchMemOp:
    case NodeKind::kUnknown:
      AddTouches(call);
      break;
    case NodeKind::kExternalSemaphoreSignal:
    case NodeKind::kExternalSemaphoreWait:
      complete_ = true;  // they touch no memory that is handed out
      break;
    case NodeKind::kEventWait:
    case NodeKind::kEventRecord:
      node_event_ = EventOf(call, call.event)->id;
      break;
    case NodeKind::kMemAlloc: {
      GraphInfo* graph = FindGraph(fresh_.graph);
      node_block_ = WriteAlloc(call, StreamIdOf(thread, call), PoolOf(call, PoolKind::kGraph, 0),
                               graph ? graph->id : GraphId());
      break;
    }
    case NodeKind::kMemFree:
      if (auto entry = live_.At(LiveMemory::kDriver, call.address)) node_block_ = entry->block;
      live_.Erase(LiveMemory::kDriver, call.address);
      break;
    default:
      break;
  }
}

// The touches of a copy or a memset, and of a batch. Where a call made as many nodes as its batch
// has operations, each is one of them, in their order; else any node may be any of them.
void Recorder::AddTouches(const Call& call) {
  auto add = [this](const Operation& operation) {
    for (uint32_t i = 0; i < operation.touch_count; ++i) {
      const TouchedMemory& touch = operation.touches[i];
      const AccessMode mode = touch.write ? AccessMode::kWrite : AccessMode::kRead;
      AddAccess(touch.address, mode, LengthOf(touch.length));
    }
  };
  add(call.own);
  complete_ = call.own.touch_count != 0 || !call.operations.empty();
  const bool one_each = nodes_made_ == call.operations.size();
  for (size_t i = 0; i < call.operations.size(); ++i) {
    if (one_each && i != next_operation_) continue;
    add(call.operations[i]);
    complete_ = complete_ && call.operations[i].complete;
  }
  ++next_operation_;
}

void Recorder::DescribeNode(const Call& call, bool of_call, NodeRecord& r) {
  if (fresh_.kind == NodeKind::kChildGraph) r.child = HeldGraph(call, of_call);
  if (!of_call) return;
  r.row.event = node_event_;
  r.row.block = node_block_;
  DescribeWork(call, r);
  if (fresh_.kind != NodeKind::kConditional) return;
  r.row.conditional = call.conditional;
  bodies_.clear();
  for (uint32_t i = 0; i < claimed_.size(); ++i) bodies_.emplace_back(next_graph_ + i);
  r.bodies = bodies_;
}

GraphId Recorder::GivenGraph(uint64_t handle) {
  return handle == 0 ? GraphId() : GraphOf(handle)->id;
}

void Recorder::OnNodeSet(ThreadState& thread, const Call& call) {
  NodeInfo* node = nodes_.Find(call.node);
  ExecInfo* exec = call.exec != 0 ? execs_.Find(call.exec) : nullptr;
  if (node == nullptr || (call.exec != 0 && exec == nullptr)) return;
  bool params = call.kind == CallKind::kNodeSet;
  bool memory = node->kind == NodeKind::kMemAlloc || node->kind == NodeKind::kMemFree;
  const NodeKind kind = node->kind;
  const bool child = kind == NodeKind::kChildGraph;
  const GraphId given = child ? GivenGraph(call.original) : GraphId();
  fresh_.kind = kind;
  nodes_made_ = 0;
  PrepareNode(thread, call, params && !memory);
  NodeSetRecord r;
  r.row.node = node->id;
  if (exec != nullptr) r.row.exec = exec->id;
  r.row.what = call.flags != 0 ? NodeChangeKind::kEnabled : NodeChangeKind::kDisabled;
  r.row.child = given;
  if (params) {
    r.row.what = NodeChangeKind::kParams;
    r.row.event = node_event_;
    DescribeWork(call, r);
    r.row.accesses = values_.Add(found_);
  }
  const uint64_t place = Write(call, r);
  if (child && exec != nullptr) {
    if (HasNodesInside(*exec, node->id)) UpdateExecNodes(thread, *exec);
    return;
  }
  ExecNodeInfo* of_exec = exec != nullptr ? FindExecNode(*exec, node->id) : nullptr;
  NodeInfo* changed = exec == nullptr ? node : of_exec != nullptr ? &of_exec->now : nullptr;
  if (changed == nullptr) return;
  if (params) {
    changed->place = place;
  } else {
    changed->off = call.flags == 0;
  }
}

void Recorder::WriteUpdatable(const Call& call, NodeInfo& node) {
  node.updatable = true;
  NodeSetRecord r;
  r.row.node = node.id;
  r.row.what = NodeChangeKind::kUpdatable;
  Write(call, r);
}

// Whether the node at hand touches nothing but what was found.
bool Recorder::IsComplete(const Call& call) const {
  if (fresh_.kind != NodeKind::kKernel) return complete_;
  if (node_kernel_ == nullptr || !node_kernel_->has_layout) return false;
  const KernelWork& work = call.kernel;
  const bool read = work.arguments || work.packed || node_kernel_->params.empty();
  return read && !node_kernel_->indirect && !node_indirect_;
}

void Recorder::AddAccess(uint64_t address, AccessMode mode, Bytes length) {
  auto place = live_.Find(address);
  if (!place) return;
  for (Access& known : found_) {
    if (known.block != place->block || known.offset != place->offset) continue;
    if (known.length != length) continue;
    known.mode = BothModes(known.mode, mode);
    return;
  }
  found_.push_back({place->block, mode, place->offset, length});
}

void Recorder::ScanArguments(const KernelWork& work, const KernelInfo& kernel) {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const KernelParam& param = kernel.params[i];
    const char* bytes = nullptr;
    if (work.arguments != nullptr) {
      bytes = static_cast<const char*>(work.arguments[i]);
    } else if (work.packed != nullptr && param.offset + param.size <= work.packed_bytes) {
      bytes = work.packed + param.offset;
    }
    if (bytes != nullptr) ScanParam(bytes, param, kernel.uses[i]);
  }
}

// Every aligned 8-byte word of the parameter may be an address: also inside structs.
void Recorder::ScanParam(const char* bytes, const KernelParam& param, ParamUse use) {
  if (use == ParamUse::kOperand) {
    return param.size == sizeof(Operand) ? AddOperand(bytes) : AddCollective(bytes);
  }
  size_t first = (kWord - param.offset % kWord) % kWord;
  bool pointer = param.size == kWord && use == ParamUse::kRead;
  for (size_t at = first; at + kWord <= param.size; at += kWord) {
    uint64_t word;
    std::memcpy(&word, bytes + at, kWord);
    AddAccess(word, pointer ? AccessMode::kRead : AccessMode::kUnknown, kLengthUnknown);
  }
}

void Recorder::AddOperand(const char* bytes) {
  Operand operand;
  std::memcpy(&operand, bytes, sizeof operand);
  if (operand.bytes == 0 || (operand.use & 3) == 0) return;
  if ((operand.use & 4) != 0) node_indirect_ = true;
  AddAccess(operand.address, static_cast<AccessMode>(operand.use & 3), operand.bytes);
}

FrontierEntry Recorder::EdgeData(const Call& call, StreamInfo* stream, uint64_t from, uint64_t to,
                                 const NodeInfo& producer, NodeKind consumer) {
  if (const FrontierEntry* data = ClonedData(from, to)) {
    return {producer.id, data->from_port, data->edge_type};
  }
  for (const Dependency& given : call.dependencies) {
    if (given.from == from && (given.to == to || given.to == 0)) {
      return {producer.id, given.from_port, given.type};
    }
  }
  if (stream == nullptr) return {producer.id, kPortDefault, 0};
  bool kernel = consumer == NodeKind::kKernel;
  bool programmatic =
      kernel && call.kernel.programmatic_serialization && producer.kind == NodeKind::kKernel;
  FrontierEntry data = EdgeDataFrom(stream->frontier, producer.id, programmatic);
  // Ports are of edges from kernel to kernel only: whatever else follows waits for the end.
  if (!kernel) return {producer.id, kPortDefault, 0};
  return data;
}

void Recorder::WriteIncomingEdges(const Call& call, GraphInfo* graph, StreamInfo* stream,
                                  NodeId node) {
  for (uint64_t dependency : fresh_.dependencies) {
    NodeInfo* from = nodes_.Find(dependency);
    if (from == nullptr) continue;
    WriteEdge(call, graph, from->id, node,
              EdgeData(call, stream, dependency, fresh_.handle, *from, fresh_.kind));
  }
}

// The node takes the place of its stream's frontier; a launch may record events besides.
void Recorder::AdvanceFrontier(const Call& call, StreamInfo& stream, NodeId node) {
  stream.frontier.assign(1, {node, kPortDefault, 0});
  const KernelWork& work = call.kernel;
  if (work.programmatic_event != 0) {
    uint8_t port = work.at_block_start ? kPortLaunchCompletion : kPortProgrammatic;
    Frontier entries{{node, port, static_cast<uint8_t>(EdgeType::kProgrammatic)}};
    RecordEvent(call, stream, work.programmatic_event, &entries);
  }
  if (work.completion_event != 0) {
    Frontier entries{{node, kPortLaunchCompletion, 0}};
    RecordEvent(call, stream, work.completion_event, &entries);
  }
}

}  // namespace graphkit
