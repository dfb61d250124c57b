// The records of memory. How to read this: record_process.h.
#pragma once

#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/model/memory.h"

namespace graphkit {

struct PoolRecord : RecordBase {
  static constexpr std::string_view kType = "pool";
  PoolId id;
  PoolKind kind = PoolKind::kDevice;
  std::string_view name;
  uint64_t handle = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, PoolRecord& r) {
  v.Required("id", r.id);
  v.Required("kind", r.kind);
  v.Optional("name", r.name);
  v.Hex("handle", r.handle);
}

struct PoolDestroyedRecord : RecordBase {
  static constexpr std::string_view kType = "pool_destroyed";
  PoolId pool;
};

template <typename Visitor>
void VisitFields(Visitor& v, PoolDestroyedRecord& r) {
  v.Required("pool", r.pool);
}

struct SegmentRecord : RecordBase {
  static constexpr std::string_view kType = "segment";
  SegmentId id;
  Address address = 0;
  Bytes size = 0;
  PoolId pool;
  StreamId stream;
  BlockId memory;
};

template <typename Visitor>
void VisitFields(Visitor& v, SegmentRecord& r) {
  v.Required("id", r.id);
  v.RequiredHex("address", r.address);
  v.Required("size", r.size);
  v.Required("pool", r.pool);
  v.Optional("stream", r.stream);
  v.Optional("memory", r.memory);
}

struct SegmentFreedRecord : RecordBase {
  static constexpr std::string_view kType = "segment_freed";
  SegmentId segment;
};

template <typename Visitor>
void VisitFields(Visitor& v, SegmentFreedRecord& r) {
  v.Required("segment", r.segment);
}

struct AllocRecord : RecordBase {
  static constexpr std::string_view kType = "alloc";
  BlockId id;
  Address address = 0;
  Bytes size = 0;
  PoolId pool;
  StreamId stream;
  SegmentId segment;
  GraphId graph;
  StackId stack;
};

template <typename Visitor>
void VisitFields(Visitor& v, AllocRecord& r) {
  v.Required("id", r.id);
  v.RequiredHex("address", r.address);
  v.Required("size", r.size);
  v.Required("pool", r.pool);
  v.Optional("stream", r.stream);
  v.Optional("segment", r.segment);
  v.Optional("graph", r.graph);
  v.Optional("stack", r.stack);
}

struct RecordStreamRecord : RecordBase {
  static constexpr std::string_view kType = "record_stream";
  BlockId memory;
  StreamId stream;
};

template <typename Visitor>
void VisitFields(Visitor& v, RecordStreamRecord& r) {
  v.Required("memory", r.memory);
  v.Required("stream", r.stream);
}

// The keys that the three kinds of free share.
struct FreeFields : RecordBase {
  BlockId memory;
  StreamId stream;
  StackId stack;
};

template <typename Visitor>
void VisitFields(Visitor& v, FreeFields& r) {
  v.Required("memory", r.memory);
  v.Optional("stream", r.stream);
  v.Optional("stack", r.stack);
}

struct FreeRecord : FreeFields {
  static constexpr std::string_view kType = "free";
};

struct FreeRequestedRecord : FreeFields {
  static constexpr std::string_view kType = "free_requested";
};

struct FreeCompletedRecord : FreeFields {
  static constexpr std::string_view kType = "free_completed";
};

}  // namespace graphkit
