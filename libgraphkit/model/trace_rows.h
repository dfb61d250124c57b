// The long columns of a trace: what of a value is its own, and what it shares with others
// (shared_column.h).
#pragma once

#include <cstdint>

#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/shared_column.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

constexpr uint64_t HashOf(auto... parts) {
  uint64_t hash = 0;
  ((hash = (hash ^ parts) * 0x9e3779b97f4a7c15u), ...);
  return hash;
}

struct NodeRow {
  using Value = Node;
  uint32_t rest = 0;
  Seq seq = 0;
  uint32_t first_access = 0;
  uint32_t duration_ns = 0;  // of few it is 2^32 or more: what is more is shared

  static void ForEachOwn(auto& row, auto& node, auto visit) {
    visit(row.seq, node.seq);
    visit(row.first_access, node.accesses.first);
    visit(row.duration_ns, node.duration_ns.low);
  }
  static uint64_t Hash(const Node& rest) {
    return HashOf(rest.graph.value, rest.stream.value, rest.kernel.value, rest.shape,
                  rest.accesses.count, rest.block.value, rest.event.value, rest.stack.value);
  }
};
static_assert(sizeof(NodeRow) == 16);

struct EdgeRow {
  using Value = Edge;
  uint32_t rest = 0;
  NodeId from;
  NodeId to;
  Seq seq = 0;

  static void ForEachOwn(auto& row, auto& edge, auto visit) {
    visit(row.from, edge.from);
    visit(row.to, edge.to);
    visit(row.seq, edge.seq);
  }
  static uint64_t Hash(const Edge& rest) {
    return HashOf(rest.from_port, rest.to_port, uint8_t(rest.type), rest.removed);
  }
};
static_assert(sizeof(EdgeRow) == 16);

struct BlockRow {
  using Value = Block;
  uint32_t rest = 0;
  TwoWords address;
  TwoWords size;
  SegmentId segment;
  NodeId alloc_node;
  NodeId free_node;
  Seq allocated = 0;
  Seq free_requested = kNever;
  Seq free_completed = kNever;

  static void ForEachOwn(auto& row, auto& block, auto visit) {
    visit(row.address, block.address);
    visit(row.size, block.size);
    visit(row.segment, block.segment);
    visit(row.alloc_node, block.alloc_node);
    visit(row.free_node, block.free_node);
    visit(row.allocated, block.allocated);
    visit(row.free_requested, block.free_requested);
    visit(row.free_completed, block.free_completed);
  }
  static uint64_t Hash(const Block& rest) {
    return HashOf(rest.slack, rest.pool.value, rest.stream.value, rest.graph.value,
                  rest.free_stream.value, rest.stack.value, rest.free_stack.value);
  }
};
static_assert(sizeof(BlockRow) == 44);

struct AccessRow {
  using Value = Access;
  uint32_t rest = 0;
  BlockId block;

  static void ForEachOwn(auto& row, auto& access, auto visit) { visit(row.block, access.block); }
  static uint64_t Hash(const Access& rest) {
    return HashOf(uint8_t(rest.mode), rest.offset, rest.length, rest.rows.width, rest.rows.pitch);
  }
};
static_assert(sizeof(AccessRow) == 8);

struct StreamOpRow {
  using Value = StreamOp;
  uint32_t rest = 0;
  Seq seq = 0;
  EventId event;

  static void ForEachOwn(auto& row, auto& op, auto visit) {
    visit(row.seq, op.seq);
    visit(row.event, op.event);
  }
  static uint64_t Hash(const StreamOp& rest) {
    return HashOf(uint8_t(rest.kind), rest.stream.value, rest.thread.value, rest.entries.first,
                  rest.entries.count);
  }
};
static_assert(sizeof(StreamOpRow) == 12);

using NodeColumn = SharedColumn<NodeRow>;
using EdgeColumn = SharedColumn<EdgeRow>;
using BlockColumn = SharedColumn<BlockRow>;
using AccessColumn = SharedColumn<AccessRow>;
using StreamOpColumn = SharedColumn<StreamOpRow>;

}  // namespace graphkit
