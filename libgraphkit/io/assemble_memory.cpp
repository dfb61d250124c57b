#include "libgraphkit/io/trace_assembler.h"

namespace graphkit {

bool TraceAssembler::Apply(const PoolRecord& r) {
  if (!IsNext(r.id, trace_.pools.size(), "pools")) return false;
  Pool pool;
  pool.kind = r.kind;
  pool.name = Intern(r.name);
  pool.handle = r.handle;
  pool.created = place();
  trace_.pools.push_back(pool);
  return true;
}

bool TraceAssembler::Apply(const PoolDestroyedRecord& r) {
  if (!Refers("pool", r.pool, trace_.pools.size(), "pools")) return false;
  End(trace_.pools[r.pool.index()].destroyed);
  return true;
}

bool TraceAssembler::Apply(const SegmentRecord& r) {
  if (!IsNext(r.id, trace_.segments.size(), "segments")) return false;
  if (!Refers("pool", r.pool, trace_.pools.size(), "pools")) return false;
  if (!RefersToStream(r.stream) || !RefersToBlock(r.memory)) return false;
  Segment segment;
  segment.address = r.address;
  segment.size = r.size;
  segment.pool = r.pool;
  segment.stream = r.stream;
  segment.block = r.memory;
  segment.allocated = place();
  trace_.segments.push_back(segment);
  return true;
}

bool TraceAssembler::Apply(const SegmentFreedRecord& r) {
  if (!Refers("segment", r.segment, trace_.segments.size(), "segments")) return false;
  End(trace_.segments[r.segment.index()].freed);
  return true;
}

bool TraceAssembler::Apply(const AllocRecord& r) {
  if (!IsNext(r.id, trace_.blocks.size(), "blocks")) return false;
  if (!Refers("pool", r.pool, trace_.pools.size(), "pools")) return false;
  if (!Refers("segment", r.segment, trace_.segments.size(), "segments")) return false;
  if (!RefersToStream(r.stream) || !RefersToGraph(r.graph) || !RefersToStack(r.stack)) return false;
  Block block;
  block.address = r.address;
  block.size = r.size;
  block.pool = r.pool;
  block.segment = r.segment;
  block.stream = r.stream;
  block.graph = r.graph;
  block.stack = r.stack;
  block.allocated = place();
  trace_.blocks.push_back(block);
  return true;
}

bool TraceAssembler::Apply(const RecordStreamRecord& r) {
  if (!RefersToBlock(r.memory) || !RefersToStream(r.stream)) return false;
  trace_.block_streams.push_back({r.memory, r.stream, place()});
  return true;
}

// Graph memory may be freed once per launch: the first free is the one that the model keeps.
bool TraceAssembler::RequestFree(const FreeFields& r) {
  if (!RefersToBlock(r.memory) || !RefersToStream(r.stream) || !RefersToStack(r.stack)) {
    return false;
  }
  Block& block = trace_.blocks[r.memory.index()];
  if (block.freed()) return true;
  block.free_requested = place();
  block.free_stream = r.stream;
  block.free_stack = r.stack;
  return true;
}

bool TraceAssembler::Apply(const FreeRecord& r) {
  if (!RequestFree(r)) return false;
  Block& block = trace_.blocks[r.memory.index()];
  if (block.free_requested == place()) block.free_completed = place();
  return true;
}

bool TraceAssembler::Apply(const FreeRequestedRecord& r) { return RequestFree(r); }

bool TraceAssembler::Apply(const FreeCompletedRecord& r) {
  if (!RequestFree(r)) return false;
  End(trace_.blocks[r.memory.index()].free_completed);
  return true;
}

}  // namespace graphkit
