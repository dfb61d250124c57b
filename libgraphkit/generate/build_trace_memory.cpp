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
  return Append<PoolId>(trace_.pools, {.kind = kind, .name = Intern(name), .created = Next()});
}

PoolId TraceBuilder::DefaultPool(PoolKind kind) {
  const auto found = default_pools_.find(kind);
  if (found != default_pools_.end()) return found->second;
  return default_pools_[kind] = Pool(kind);
}

SegmentId TraceBuilder::Segment(PoolId pool, Bytes size, StreamId stream) {
  return Append<SegmentId>(trace_.segments, {.address = Reserve(size),
                                             .size = size,
                                             .pool = pool,
                                             .stream = stream,
                                             .allocated = Next()});
}

BlockId TraceBuilder::AddBlock(graphkit::Block block) {
  if (block.stream) block.graph = FrontOf(block.stream).graph;
  block.stack = stack_;
  block.allocated = Next();
  return Append<BlockId>(trace_.blocks, block);
}

BlockId TraceBuilder::AllocAt(StreamId stream, Bytes size, Address address, SegmentId segment) {
  PoolId pool = pool_;
  if (!pool && segment) pool = trace_[segment].pool;
  if (!pool) pool = DefaultPool(stream ? PoolKind::kAllocator : PoolKind::kDevice);
  return AddBlock(
      {.address = address, .size = size, .pool = pool, .segment = segment, .stream = stream});
}

BlockId TraceBuilder::AllocNode(StreamId stream, Bytes size) {
  const PoolId pool = DefaultPool(PoolKind::kGraph);
  const BlockId id =
      AddBlock({.address = Reserve(size), .size = size, .pool = pool, .stream = stream});
  const NodeId node = Capture(stream, NodeKind::kMemAlloc);
  trace_.nodes.Change(node.index(), [&](Node& n) { n.block = id; });
  trace_.blocks.Change(id.index(), [&](graphkit::Block& block) { block.alloc_node = node; });
  return id;
}

NodeId TraceBuilder::FreeNode(StreamId stream, BlockId id) {
  const NodeId node = Capture(stream, NodeKind::kMemFree);
  trace_.nodes.Change(node.index(), [&](Node& n) { n.block = id; });
  trace_.blocks.Change(id.index(), [&](graphkit::Block& block) {
    block.free_node = node;
    block.free_stream = stream;
    block.free_stack = stack_;
    block.free_requested = block.free_completed = trace_[node].seq;
  });
  return node;
}

void TraceBuilder::Free(BlockId block, StreamId stream) {
  RequestFree(block, stream);
  trace_.blocks.Change(block.index(),
                       [](graphkit::Block& b) { b.free_completed = b.free_requested; });
}

void TraceBuilder::RequestFree(BlockId id, StreamId stream) {
  trace_.blocks.Change(id.index(), [&](graphkit::Block& block) {
    block.free_stream = stream ? stream : block.stream;
    block.free_stack = stack_;
    block.free_requested = Next();
  });
}

}  // namespace graphkit
