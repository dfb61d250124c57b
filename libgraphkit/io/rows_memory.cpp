#include "libgraphkit/io/record_memory.h"
#include "libgraphkit/io/record_rows.h"

namespace graphkit {
namespace {

void PutPools(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.pools.size(); ++i) places.Put(trace.pools[i].created, i);
}

void PrintPool(PlacePrinter& to, uint32_t index) {
  const Pool& pool = to.trace.pools[index];
  PoolRecord r;
  r.id = PoolId(index);
  r.kind = pool.kind;
  r.name = to.trace[pool.name];
  r.handle = pool.handle;
  to.Print(r);
}

void PutDestroyedPools(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.pools.size(); ++i) places.Put(trace.pools[i].destroyed, i);
}

void PrintDestroyedPool(PlacePrinter& to, uint32_t index) {
  PoolDestroyedRecord r;
  r.pool = PoolId(index);
  to.Print(r);
}

void PutSegments(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.segments.size(); ++i) places.Put(trace.segments[i].allocated, i);
}

void PrintSegment(PlacePrinter& to, uint32_t index) {
  const Segment& segment = to.trace.segments[index];
  SegmentRecord r;
  r.id = SegmentId(index);
  r.address = segment.address;
  r.size = segment.size;
  r.pool = segment.pool;
  r.stream = segment.stream;
  r.memory = segment.block;
  to.Print(r);
}

void PutFreedSegments(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.segments.size(); ++i) places.Put(trace.segments[i].freed, i);
}

void PrintFreedSegment(PlacePrinter& to, uint32_t index) {
  SegmentFreedRecord r;
  r.segment = SegmentId(index);
  to.Print(r);
}

void PutBlocks(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.blocks.size(); ++i) places.Put(trace.blocks[i].allocated, i);
}

void PrintBlock(PlacePrinter& to, uint32_t index) {
  const Block& block = to.trace.blocks[index];
  AllocRecord r;
  r.id = BlockId(index);
  r.address = block.address;
  r.size = block.size;
  r.pool = block.pool;
  r.stream = block.stream;
  r.segment = block.segment;
  r.graph = block.graph;
  r.stack = block.stack;
  to.Print(r);
}

void PutRecordStreams(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.block_streams.size(); ++i) {
    places.Put(trace.block_streams[i].seq, i);
  }
}

void PrintRecordStream(PlacePrinter& to, uint32_t index) {
  RecordStreamRecord r;
  r.memory = to.trace.block_streams[index].block;
  r.stream = to.trace.block_streams[index].stream;
  to.Print(r);
}

// The record of a memory-free node frees its block.
bool FreedByNode(const Trace& trace, const Block& block) {
  return block.free_node && trace[block.free_node].seq == block.free_requested;
}

void PutFrees(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    const bool at_once = block.free_requested == block.free_completed;
    if (at_once && !FreedByNode(trace, block)) places.Put(block.free_requested, i);
  }
}

void PutRequests(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    const bool at_once = block.free_requested == block.free_completed;
    if (!at_once && !FreedByNode(trace, block)) places.Put(block.free_requested, i);
  }
}

void PutCompletions(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (block.free_requested != block.free_completed) places.Put(block.free_completed, i);
  }
}

template <typename Record>
void PrintFree(PlacePrinter& to, uint32_t index) {
  const Block& block = to.trace.blocks[index];
  Record r;
  r.memory = BlockId(index);
  r.stream = block.free_stream;
  r.stack = block.free_stack;
  to.Print(r);
}

void PrintCompletion(PlacePrinter& to, uint32_t index) {
  FreeCompletedRecord r;
  r.memory = BlockId(index);
  to.Print(r);
}

constexpr RecordRow kMemoryRows[] = {
    {PutPools, PrintPool},
    {PutDestroyedPools, PrintDestroyedPool},
    {PutSegments, PrintSegment},
    {PutFreedSegments, PrintFreedSegment},
    {PutBlocks, PrintBlock},
    {PutRecordStreams, PrintRecordStream},
    {PutFrees, PrintFree<FreeRecord>},
    {PutRequests, PrintFree<FreeRequestedRecord>},
    {PutCompletions, PrintCompletion},
};

}  // namespace

std::span<const RecordRow> MemoryRows() { return kMemoryRows; }

}  // namespace graphkit
