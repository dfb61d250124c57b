// The records of memory. How to read this: record.h.
#pragma once

#include "libgraphkit/io/record/record.h"

namespace graphkit {

struct PoolRecord : DeclaredRecord<"pool", PoolId, &Pool::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("kind", row.kind);
    v.Optional("name", row.name);
    v.Optional("handle", Hex{row.handle});
  }
};

struct PoolDestroyedRecord : EndingRecord<"pool_destroyed", PoolId, &Pool::destroyed> {};

struct SegmentRecord : DeclaredRecord<"segment", SegmentId, &Segment::allocated> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("address", Hex{row.address});
    v.Required("size", row.size);
    v.Required("pool", row.pool);
    v.Optional("stream", row.stream);
    v.Optional("memory", row.block);
  }
};

struct SegmentFreedRecord : EndingRecord<"segment_freed", SegmentId, &Segment::freed> {};

struct AllocRecord : DeclaredRecord<"alloc", BlockId, &Block::allocated> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("address", Hex{row.address});
    v.Required("size", row.size);
    v.Optional("slack", row.slack);
    v.Required("pool", row.pool);
    v.Optional("stream", row.stream);
    v.Optional("segment", row.segment);
    v.Optional("graph", row.graph);
    v.Optional("stack", row.stack);
    v.Optional("mapped", row.mapped);
    v.Optional("same_as", row.same_as);
  }
};

struct MemorySharedRecord : EndingRecord<"memory_shared", BlockId, &Block::shared> {};

struct HostContentRecord : RowRecord<"host_content", &Trace::host_changes, &HostChange::seq> {
  void Fields(auto& v) {
    v.Required("memory", row.block);
    v.Optional("offset", row.offset);
    v.Required("length", row.length);
  }
};

struct RecordStreamRecord : RowRecord<"record_stream", &Trace::block_streams, &BlockStream::seq> {
  void Fields(auto& v) {
    v.Required("memory", row.block);
    v.Required("stream", row.stream);
  }
};

// The keys that the three kinds of free share.
template <TypeName kName, auto Place>
struct AnyFreeRecord : PlacedAt<kName, &Trace::blocks, Place> {
  BlockId memory;
  StreamId stream;
  StackId stack;
  void Fields(auto& v) {
    v.Required("memory", memory);
    v.Optional("stream", stream);
    v.Optional("stack", stack);
  }
};

// A free that was complete at once.
struct FreeRecord : AnyFreeRecord<"free", &Block::free_requested> {
  static bool Says(const Block& block) { return block.free_requested == block.free_completed; }
};

struct FreeRequestedRecord : AnyFreeRecord<"free_requested", &Block::free_requested> {
  static bool Says(const Block& block) { return !FreeRecord::Says(block); }
};

struct FreeCompletedRecord : AnyFreeRecord<"free_completed", &Block::free_completed> {
  static bool Says(const Block& block) { return !FreeRecord::Says(block); }
};

}  // namespace graphkit
