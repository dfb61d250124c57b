// The records of memory. How to read this: record.h.
#pragma once

#include "libgraphkit/io/record/record.h"

namespace graphkit {

struct PoolRecord : DeclaredRecord<PoolId, &Pool::created> {
  static constexpr std::string_view kType = "pool";
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("kind", row.kind);
    v.Optional("name", row.name);
    v.Optional("handle", Hex{row.handle});
  }
};

struct PoolDestroyedRecord : EndingRecord<PoolId, &Pool::destroyed> {
  static constexpr std::string_view kType = "pool_destroyed";
};

struct SegmentRecord : DeclaredRecord<SegmentId, &Segment::allocated> {
  static constexpr std::string_view kType = "segment";
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("address", Hex{row.address});
    v.Required("size", row.size);
    v.Required("pool", row.pool);
    v.Optional("stream", row.stream);
    v.Optional("memory", row.block);
  }
};

struct SegmentFreedRecord : EndingRecord<SegmentId, &Segment::freed> {
  static constexpr std::string_view kType = "segment_freed";
};

struct AllocRecord : DeclaredRecord<BlockId, &Block::allocated> {
  static constexpr std::string_view kType = "alloc";
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
  }
};

struct RecordStreamRecord : RowRecord<&Trace::block_streams, &BlockStream::seq> {
  static constexpr std::string_view kType = "record_stream";
  void Fields(auto& v) {
    v.Required("memory", row.block);
    v.Required("stream", row.stream);
  }
};

// The keys that the three kinds of free share.
template <auto Place>
struct AnyFreeRecord : PlacedAt<&Trace::blocks, Place> {
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
struct FreeRecord : AnyFreeRecord<&Block::free_requested> {
  static constexpr std::string_view kType = "free";
  static bool Says(const Block& block) { return block.free_requested == block.free_completed; }
};

struct FreeRequestedRecord : AnyFreeRecord<&Block::free_requested> {
  static constexpr std::string_view kType = "free_requested";
  static bool Says(const Block& block) { return !FreeRecord::Says(block); }
};

struct FreeCompletedRecord : AnyFreeRecord<&Block::free_completed> {
  static constexpr std::string_view kType = "free_completed";
  static bool Says(const Block& block) { return !FreeRecord::Says(block); }
};

}  // namespace graphkit
