#include "libgraphkit/generate/build_trace.h"

namespace graphkit {

Access Reads(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kRead, offset, length};
}

Access Writes(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kWrite, offset, length};
}

Access ReadsWrites(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kReadWrite, offset, length};
}

Access Touches(BlockId block, Bytes offset, Bytes length) {
  return {block, AccessMode::kUnknown, offset, length};
}

Address TraceBuilder::Reserve(Bytes size) {
  const Address address = next_address_;
  next_address_ += RoundUp(size == 0 ? 1 : size, kBlockGranularity);
  return address;
}

PoolId TraceBuilder::Pool(PoolKind kind, std::string_view name) {
  const PoolId id(trace_.pools.size());
  graphkit::Pool pool;
  pool.kind = kind;
  pool.name = Intern(name);
  pool.created = Next();
  trace_.pools.push_back(pool);
  return id;
}

PoolId TraceBuilder::DefaultPool(PoolKind kind) {
  const auto found = default_pools_.find(kind);
  if (found != default_pools_.end()) return found->second;
  return default_pools_[kind] = Pool(kind);
}

SegmentId TraceBuilder::Segment(PoolId pool, Bytes size, StreamId stream) {
  const SegmentId id(trace_.segments.size());
  graphkit::Segment segment;
  segment.address = Reserve(size);
  segment.size = size;
  segment.pool = pool;
  segment.stream = stream;
  segment.allocated = Next();
  trace_.segments.push_back(segment);
  return id;
}

void TraceBuilder::FreeSegment(SegmentId segment) {
  trace_.segments[segment.index()].freed = Next();
}

BlockId TraceBuilder::AddBlock(graphkit::Block block) {
  const BlockId id(trace_.blocks.size());
  if (block.stream) block.graph = FrontOf(block.stream).graph;
  block.stack = stack_;
  block.allocated = Next();
  trace_.blocks.push_back(block);
  return id;
}

BlockId TraceBuilder::Alloc(StreamId stream, Bytes size) {
  return AllocAt(stream, size, Reserve(size));
}

BlockId TraceBuilder::AllocAt(StreamId stream, Bytes size, Address address, SegmentId segment) {
  graphkit::Block block;
  block.address = address;
  block.size = size;
  block.segment = segment;
  block.stream = stream;
  block.pool = pool_;
  if (!pool_ && segment) block.pool = trace_[segment].pool;
  if (!block.pool) block.pool = DefaultPool(stream ? PoolKind::kAllocator : PoolKind::kDevice);
  return AddBlock(block);
}

BlockId TraceBuilder::AllocNode(StreamId stream, Bytes size) {
  graphkit::Block block;
  block.address = Reserve(size);
  block.size = size;
  block.stream = stream;
  block.pool = DefaultPool(PoolKind::kGraph);
  const BlockId id = AddBlock(block);
  const NodeId node = Capture(stream, NodeKind::kMemAlloc);
  trace_.nodes[node.index()].block = id;
  trace_.blocks[id.index()].alloc_node = node;
  return id;
}

NodeId TraceBuilder::FreeNode(StreamId stream, BlockId id) {
  const NodeId node = Capture(stream, NodeKind::kMemFree);
  trace_.nodes[node.index()].block = id;
  Block& block = trace_.blocks[id.index()];
  block.free_node = node;
  block.free_stream = stream;
  block.free_stack = stack_;
  block.free_requested = block.free_completed = trace_[node].seq;
  return node;
}

void TraceBuilder::RecordStream(BlockId block, StreamId stream) {
  trace_.block_streams.push_back({block, stream, Next()});
}

void TraceBuilder::Free(BlockId block, StreamId stream) {
  RequestFree(block, stream);
  trace_.blocks[block.index()].free_completed = trace_.blocks[block.index()].free_requested;
}

void TraceBuilder::RequestFree(BlockId id, StreamId stream) {
  Block& block = trace_.blocks[id.index()];
  block.free_stream = stream ? stream : block.stream;
  block.free_stack = stack_;
  block.free_requested = Next();
}

void TraceBuilder::CompleteFree(BlockId block) {
  trace_.blocks[block.index()].free_completed = Next();
}

}  // namespace graphkit
