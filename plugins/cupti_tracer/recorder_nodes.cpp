// Nodes: what they do, what they touch, and the edges that they come with.
#include <algorithm>
#include <cstring>

#include "plugins/cupti_tracer/recorder.h"

namespace graphkit {
namespace {

// As in docs/format.md, by CUgraphNodeType.
constexpr std::string_view kKindNames[] = {
    "kernel",       "memcpy",       "memset",           "host",           "graph",     "empty",
    "event_wait",   "event_record", "semaphore_signal", "semaphore_wait", "mem_alloc", "mem_free",
    "batch_mem_op", "conditional"};
constexpr const char* kConditionalNames[] = {"if", "while", "switch"};
constexpr size_t kWord = 8;  // bytes of a device address

// Of two accesses to the same place: 'r', 'w', 'b' for both of them, '?' for either.
char BothModes(char one, char other) {
  if (one == other) return one;
  return one == '?' || other == '?' ? '?' : 'b';
}

}  // namespace

std::string_view KindName(NodeKind kind) {
  auto at = static_cast<size_t>(kind);
  return at < std::size(kKindNames) ? kKindNames[at] : "unknown";
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
  std::string copied = clone == nullptr || embeds ? std::string() : DescriptionOf(clone->original);
  if (copied.empty()) PrepareNode(thread, call, of_call);
  ThreadId thread_id = ThreadOf(thread);
  if (embeds) ClaimGraphs(call, of_call);

  NodeId id(next_node_++);
  line_.Start("node");
  line_.Number("id", id.value);
  line_.Number("graph", graph->id.value);
  if (stream != nullptr) line_.Number("stream", stream->id.value);
  line_.Number("thread", thread_id.value);
  Ref("stack", call.stack);
  Time(call);
  if (copied.empty()) {
    DescribeNode(call, of_call);
  } else {
    line_.Raw(copied);
  }
  uint64_t place = Write(&RecordCounts::nodes);
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
  line_.Start("work");
  Ref("stream", stream);
  line_.Number("thread", thread_id.value);
  Time(call);
  DescribeNode(call, true);
  Write();
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
  auto add = [this](const Touch* touches, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      AddAccess(touches[i].address, touches[i].write ? 'w' : 'r', touches[i].length);
    }
  };
  add(call.touches, call.touch_count);
  complete_ = call.touch_count != 0 || !call.operations.empty();
  const bool one_each = nodes_made_ == call.operations.size();
  for (size_t i = 0; i < call.operations.size(); ++i) {
    if (one_each && i != next_operation_) continue;
    add(call.operations[i].touches, call.operations[i].touch_count);
    complete_ = complete_ && call.operations[i].complete;
  }
  ++next_operation_;
}

void Recorder::DescribeNode(const Call& call, bool of_call) {
  line_.Name("kind", KindName(fresh_.kind));
  if (fresh_.kind == NodeKind::kChildGraph) Ref("child", HeldGraph(call, of_call));
  if (!of_call) return;
  Ref("event", node_event_);
  Ref("memory", node_block_);
  DescribeWork(call);
  WriteCollectives();
  if (fresh_.kind != NodeKind::kConditional) return;
  if (call.conditional != ConditionalType::kUnknown) {
    line_.Name("conditional", kConditionalNames[static_cast<size_t>(call.conditional)]);
  }
  line_.OpenArray("bodies");
  for (uint32_t i = 0; i < claimed_.size(); ++i) line_.Item(next_graph_ + i);
  line_.CloseArray();
}

// What a kernel, a copy, a memset or a batch does.
void Recorder::DescribeWork(const Call& call) {
  if (fresh_.kind == NodeKind::kKernel) return DescribeKernel(call);
  WriteAccesses();
  if (complete_) line_.True("complete");
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
  line_.Start("node_set");
  line_.Number("node", node->id.value);
  if (exec != nullptr) line_.Number("exec", exec->id.value);
  Time(call);
  line_.Name("what", params ? "params" : call.flags != 0 ? "enabled" : "disabled");
  Ref("child", given);
  if (params) Ref("event", node_event_);
  if (params) DescribeWork(call);
  const uint64_t place = Write();
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
  line_.Start("node_set");
  line_.Number("node", node.id.value);
  line_.Name("what", "updatable");
  Time(call);
  Write();
}

void Recorder::DescribeKernel(const Call& call) {
  auto shape = [this](std::string_view key, const uint32_t(&size)[3]) {
    if (size[0] == 1 && size[1] == 1 && size[2] == 1) return;
    line_.OpenArray(key);
    for (uint32_t extent : size) line_.Item(extent);
    line_.CloseArray();
  };
  if (node_kernel_ != nullptr) line_.Number("kernel", node_kernel_->id.value);
  shape("grid", call.kernel.grid);
  shape("block", call.kernel.block);
  if (call.kernel.shared_bytes != 0) line_.Number("shared", call.kernel.shared_bytes);
  WriteAccesses();
  bool read = call.kernel.arguments != nullptr || call.kernel.packed != nullptr ||
              (node_kernel_ != nullptr && node_kernel_->params.empty());
  bool complete = node_kernel_ != nullptr && node_kernel_->has_layout && read;
  if (complete && !node_kernel_->indirect && !node_indirect_) line_.True("complete");
}

void Recorder::WriteAccesses() {
  if (found_.empty()) return;
  line_.OpenArray("access");
  for (const FoundAccess& access : found_) {
    line_.OpenInner();
    line_.Item(access.block.value);
    line_.NameItem(access.mode == 'b' ? std::string_view("rw") : std::string_view(&access.mode, 1));
    line_.Item(access.offset);
    line_.Item(access.length);
    line_.CloseArray();
  }
  line_.CloseArray();
}

void Recorder::AddAccess(uint64_t address, char mode, int64_t length) {
  auto place = live_.Find(address);
  if (!place) return;
  FoundAccess access{place->block, mode, place->offset, length};
  for (FoundAccess& known : found_) {
    if (known.block != access.block || known.offset != access.offset) continue;
    if (known.length != length) continue;
    known.mode = BothModes(known.mode, mode);
    return;
  }
  found_.push_back(access);
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
    AddAccess(word, pointer ? 'r' : '?', -1);
  }
}

void Recorder::AddOperand(const char* bytes) {
  Operand operand;
  std::memcpy(&operand, bytes, sizeof operand);
  if (operand.bytes == 0 || (operand.use & 3) == 0) return;
  if ((operand.use & 4) != 0) node_indirect_ = true;
  AddAccess(operand.address, "rwb"[(operand.use & 3) - 1], static_cast<int64_t>(operand.bytes));
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
