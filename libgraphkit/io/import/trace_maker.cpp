#include "libgraphkit/io/import/trace_maker.h"

#include <algorithm>
#include <limits>

#include "libgraphkit/checked_number.h"

namespace graphkit {

TraceMaker::TraceMaker() {
  trace.process.device = DeviceKind::kImported;
  trace.process.seq = Next();
}

void TraceMaker::SetBegin(int64_t first, bool unix) {
  if (first <= 1) first = 2;
  begin_ns_ = first - 1;  // a time of 0 would mean that it isn't known
  if (!unix) return;
  trace.clocks.push_back({.monotonic = 0, .wall = begin_ns_, .seq = Next()});
}

void TraceMaker::SetTime(int64_t time, size_t expected) {
  SetTimes(trace.records - 1, time, expected);
}

void TraceMaker::SetTimes(Seq first, int64_t time, size_t expected) {
  if (begin_ns_ == 0 || time <= begin_ns_) return;
  if (trace.times.capacity() < trace.records) {
    trace.times.reserve(std::max<size_t>(trace.records + expected, size_t{trace.records} * 2));
  }
  trace.times.resize(first);
  trace.times.resize(trace.records, static_cast<Nanoseconds>(time - begin_ns_));
}

StreamId TraceMaker::Stream(uint32_t device, uint64_t handle) {
  StreamId& id = streams_[{device, handle}];
  if (id) return id;
  id = StreamId(trace.streams.size());
  graphkit::Stream stream;
  stream.handle = handle;
  stream.kind = handle == 0 ? StreamKind::kLegacyDefault : StreamKind::kCreated;
  stream.device = Narrow<int16_t>(device).value_or(-1);
  stream.created = Next();
  trace.streams.push_back(stream);
  return id;
}

StreamId TraceMaker::NamedStream(uint32_t device, std::string_view name) {
  StreamId& id = named_streams_[{device, Intern(name)}];
  if (id) return id;
  id = StreamId(trace.streams.size());
  graphkit::Stream stream;
  stream.device = Narrow<int16_t>(device).value_or(-1);
  stream.name = Intern(name);
  stream.created = Next();
  trace.streams.push_back(stream);
  return id;
}

ThreadId TraceMaker::Thread(int64_t tid) {
  ThreadId& id = threads_[tid];
  if (id) return id;
  id = ThreadId(trace.threads.size());
  trace.threads.push_back({.tid = tid, .name = {}, .created = Next()});
  return id;
}

KernelId TraceMaker::Kernel(std::string_view name) {
  KernelId& id = kernels_[Intern(name)];
  if (id) return id;
  id = KernelId(trace.kernels.size());
  graphkit::Kernel kernel;
  kernel.name = Intern(name);
  kernel.created = Next();
  trace.kernels.push_back(kernel);
  return id;
}

EventId TraceMaker::Event(uint64_t handle) {
  EventId& id = events_[handle];
  if (id) return id;
  id = EventId(trace.events.size());
  trace.events.push_back({.handle = handle, .created = Next(), .destroyed = kNever});
  return id;
}

uint32_t TraceMaker::Shape(const LaunchShape& shape) {
  const auto next = static_cast<uint32_t>(trace.shapes.size());
  const auto& [g, b, shared] = shape;
  const auto [at, added] =
      shapes_.emplace(std::array{g[0], g[1], g[2], b[0], b[1], b[2], shared}, next);
  if (added) trace.shapes.push_back(shape);
  return at->second;
}

PoolId TraceMaker::AddPool(PoolKind kind, std::string_view name, uint64_t handle) {
  const PoolId id(trace.pools.size());
  trace.pools.push_back({.kind = kind,
                         .name = Intern(name),
                         .handle = handle,
                         .created = Next(),
                         .destroyed = kNever});
  return id;
}

GraphId TraceMaker::AddGraph(std::string_view name, uint64_t tool_id) {
  const GraphId id(trace.graphs.size());
  Graph graph;
  graph.origin = GraphOrigin::kImported;
  graph.name = Intern(name);
  graph.tool_id = tool_id;
  graph.created = Next();
  trace.graphs.push_back(graph);
  return id;
}

BlockId TraceMaker::AddBlock(Block block) {
  const BlockId id(trace.blocks.size());
  block.allocated = Next();
  trace.blocks.push_back(block);
  return id;
}

NodeId TraceMaker::AddNode(Node node) {
  const NodeId id(trace.nodes.size());
  node.seq = Next();
  trace.nodes.push_back(node);
  return id;
}

void TraceMaker::AddEdge(NodeId from, NodeId to, Source source, uint8_t from_port, EdgeType type) {
  Edge edge;
  edge.from = from;
  edge.to = to;
  edge.from_port = from_port;
  edge.type = type;
  edge.source = source;
  edge.seq = Next();
  trace.edges.push_back(edge);
}

void TraceMaker::Free(BlockId id, StreamId stream) {
  Block& block = trace.blocks[id.index()];
  block.free_stream = stream;
  block.free_requested = block.free_completed = Next();
}

void TraceMaker::Note(std::string_view text) {
  trace.completeness.notes.emplace_back(text);
  Next();
}

}  // namespace graphkit
