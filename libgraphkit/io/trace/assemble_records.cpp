#include "libgraphkit/io/trace/trace_assembler.h"

namespace graphkit {

bool TraceAssembler::Settle(const ProcessRecord& r) {
  Process& process = trace_.process;
  const bool first = process.pid == 0 && process.program.empty();
  if (first) process.seq = place();
  ProcessRecord known;
  known.process = std::move(process);
  process = std::move(FieldCopier<ProcessRecord, true>(r, std::move(known)).to.process);
  return true;
}

bool TraceAssembler::Settle(const DroppedRecord& r) {
  trace_.completeness.dropped_records += r.records;
  return true;
}

bool TraceAssembler::Settle(const NoteRecord& r) {
  trace_.completeness.notes.push_back(r.text);
  trace_.completeness.stopped |= r.stopped;
  return true;
}

bool TraceAssembler::Settle(const HistoryEventsRecord& r) {
  uint64_t last = r.row.first;
  for (const char digit : trace_[r.row.steps]) {
    const std::optional<Seq> step = StepOf(digit);
    if (!step) return Fail("has a bad \"steps\": it should be digits in base 36");
    last += *step;
  }
  return last < place() || Fail("names place " + std::to_string(last) + ", which comes later");
}

bool TraceAssembler::Settle(const NvtxPushRecord& r) {
  open_ranges_[{r.row.thread, r.row.domain}].push_back(
      static_cast<uint32_t>(trace_.nvtx_ranges.size() - 1));
  return true;
}

// A pop without a push closes a range that was opened before the trace began.
bool TraceAssembler::Settle(const NvtxPopRecord& r) {
  std::vector<uint32_t>& open = open_ranges_[{r.thread, r.domain}];
  if (open.empty()) return true;
  trace_.nvtx_ranges[open.back()].end = place();
  open.pop_back();
  return true;
}

bool TraceAssembler::Settle(const CaptureEndRecord& r) {
  const Capture nothing;
  if (r.failure != nothing.failure && r.failure >= trace_.failures.size()) {
    return FailReference("failure", r.failure, trace_.failures.size(), "failures");
  }
  Capture& capture = trace_.captures[r.capture.index()];
  if (capture.end != kNever) {
    return Fail("ends capture " + std::to_string(r.capture.value) + " a second time");
  }
  const bool completed = r.error == 0 && r.failure == nothing.failure;
  capture.status = completed ? CaptureStatus::kCompleted : CaptureStatus::kInvalidated;
  capture.error = r.error;
  capture.failure = r.failure;
  capture.end = place();
  return true;
}

// Graph memory may be freed once per launch: the first free is the one that the model keeps.
template <TypeName kName, auto Place>
bool TraceAssembler::RequestFree(const AnyFreeRecord<kName, Place>& r, Block* block) {
  if (block->freed()) return false;
  block->free_requested = place();
  block->free_stream = r.stream;
  block->free_stack = r.stack;
  return true;
}

bool TraceAssembler::Settle(const FreeRecord& r) {
  trace_.blocks.Change(r.memory.index(), [&](Block& block) {
    if (RequestFree(r, &block)) block.free_completed = place();
  });
  return true;
}

bool TraceAssembler::Settle(const FreeRequestedRecord& r) {
  trace_.blocks.Change(r.memory.index(), [&](Block& block) { RequestFree(r, &block); });
  return true;
}

bool TraceAssembler::Settle(const FreeCompletedRecord& r) {
  trace_.blocks.Change(r.memory.index(), [&](Block& block) {
    RequestFree(r, &block);
    if (block.free_completed == kNever) block.free_completed = place();
  });
  return true;
}

size_t TraceAssembler::ShapeHash::operator()(const LaunchShape& shape) const {
  uint64_t hash = shape.shared_bytes;
  for (int i = 0; i < 3; ++i) {
    hash = (hash ^ shape.grid[i]) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ shape.block[i]) * 0x9e3779b97f4a7c15u;
  }
  return static_cast<size_t>(hash ^ hash >> 32);
}

// Makes `graph` the child of `parent`, or the body `body` of it. Both the graph and the node may
// say so; they must agree.
bool TraceAssembler::Adopt(GraphId id, NodeId parent, uint32_t body) {
  Graph& graph = trace_.graphs[id.index()];
  if (graph.parent && (graph.parent != parent || graph.body != body)) {
    return Fail("puts graph " + std::to_string(id.value) + " into node " +
                    std::to_string(parent.value) + ", but it is in node " +
                    std::to_string(graph.parent.value),
                "the file is damaged, or what wrote it is wrong");
  }
  graph.parent = parent;
  graph.body = body;
  return true;
}

bool TraceAssembler::Settle(const GraphRecord& r) {
  const auto expected = expected_graphs_.find(r.id);
  if (expected == expected_graphs_.end()) return true;
  const Expected holder = expected->second;
  expected_graphs_.erase(expected);
  return Adopt(r.id, holder.parent, holder.body);
}

uint32_t TraceAssembler::InternShape(const LaunchShape& shape) {
  if (last_shape_ < trace_.shapes.size() && trace_.shapes[last_shape_] == shape) {
    return last_shape_;
  }
  const auto next = static_cast<uint32_t>(trace_.shapes.size());
  const auto [found, inserted] = shapes_.emplace(shape, next);
  if (inserted) trace_.shapes.push_back(shape);
  return last_shape_ = found->second;
}

bool TraceAssembler::LinkBodies(const NodeRecord& r) {
  const auto link = [&](GraphId graph, uint32_t body) {
    if (graph.index() < trace_.graphs.size()) return Adopt(graph, r.id, body);
    const auto [other, inserted] = expected_graphs_.emplace(graph, Expected{r.id, body, place()});
    if (inserted) return true;
    return Fail("holds graph " + std::to_string(graph.value) + ", but so does node " +
                std::to_string(other->second.parent.value));
  };
  if (r.child && !link(r.child, 0)) return false;
  for (size_t i = 0; i < r.bodies.size(); ++i) {
    if (!link(r.bodies[i], static_cast<uint32_t>(i))) return false;
  }
  return true;
}

// Memory nodes: the block knows the node that allocated it, and the first that frees it.
void TraceAssembler::TakeBlock(const NodeRecord& r) {
  if (!r.row.block) return;
  trace_.blocks.Change(r.row.block.index(), [&](Block& block) {
    if (r.row.kind == NodeKind::kMemAlloc && !block.alloc_node) block.alloc_node = r.id;
    if (r.row.kind != NodeKind::kMemFree || block.freed()) return;
    block.free_node = r.id;
    block.free_stream = r.row.stream;
    block.free_stack = r.row.stack;
    block.free_requested = block.free_completed = place();
  });
}

bool TraceAssembler::Settle(const CommunicatorRecord& r) {
  if (r.row.rank < r.row.ranks) return true;
  return Fail("has rank " + std::to_string(r.row.rank) + " of " + std::to_string(r.row.ranks) +
              " ranks");
}

bool TraceAssembler::Settle(const NodeRecord& r) {
  TakeBlock(r);
  return LinkBodies(r);
}

bool TraceAssembler::Settle(const NodeSetRecord& r) {
  const bool kernel = trace_[r.row.node].kind == NodeKind::kKernel;
  if (kernel && r.row.what == NodeChangeKind::kParams) {
    trace_.node_changes.back().shape = InternShape(r.shape);
  }
  return true;
}

bool TraceAssembler::Settle(const WorkRecord& r) {
  if (r.row.kind == NodeKind::kKernel) trace_.works.back().shape = InternShape(r.shape);
  return true;
}

bool TraceAssembler::Settle(const EdgeRecord& r) {
  const GraphId graph = trace_[r.row.from].graph, other = trace_[r.row.to].graph;
  if (graph == other) return true;
  return Fail(
      "goes from graph " + std::to_string(graph.value) + " to graph " + std::to_string(other.value),
      "an edge stays in one graph");
}

}  // namespace graphkit
