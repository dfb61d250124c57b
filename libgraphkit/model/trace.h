// Names, each stored once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/model/shared_column.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

// Keeps each distinct string once and gives it a dense id. Views stay valid as long as the table
// (also when it is moved): the characters never move.
class StringTable {
 public:
  StringTable() = default;
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  StringTable(const StringTable& other) { *this = other; }
  StringTable& operator=(const StringTable& other);

  StringId Intern(std::string_view text);

  // The text of an id; empty for an id that refers to nothing.
  std::string_view operator[](StringId id) const;

  size_t size() const { return order_.size(); }
  bool operator==(const StringTable& other) const;

 private:
  std::deque<std::string> storage_;
  std::vector<std::string_view> order_;
  std::unordered_map<std::string_view, StringId> ids_;
};

// The long columns of a trace: what of a value is its own, and what it shares with others
// (shared_column.h).

constexpr uint64_t HashOf(auto... parts) {
  uint64_t hash = 0;
  ((hash = (hash ^ parts) * 0x9e3779b97f4a7c15u), ...);
  return hash;
}

struct NodeRow {
  using Value = Node;
  uint32_t rest = 0;
  GraphId graph;  // of thousands of graphs each has few nodes that agree in all but this
  Seq seq = 0;
  uint32_t first_access = 0;
  uint32_t duration_ns = 0;  // of few it is 2^32 or more: what is more is shared

  static void ForEachOwn(auto& row, auto& node, auto visit) {
    visit(row.graph, node.graph);
    visit(row.seq, node.seq);
    visit(row.first_access, node.accesses.first);
    visit(row.duration_ns, node.duration_ns.low);
  }
  static uint64_t Hash(const Node& rest) {
    return HashOf(rest.stream.value, rest.kernel.value, rest.shape, rest.accesses.count,
                  rest.block.value, rest.event.value, rest.stack.value);
  }
};
static_assert(sizeof(NodeRow) == 20);

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
  PoolId pool;  // with the graph, as each of thousands of graphs has its own
  GraphId graph;
  NodeId alloc_node;
  NodeId free_node;
  Seq allocated = 0;
  Seq free_requested = kNever;
  Seq free_completed = kNever;

  static void ForEachOwn(auto& row, auto& block, auto visit) {
    visit(row.address, block.address);
    visit(row.size, block.size);
    visit(row.segment, block.segment);
    visit(row.pool, block.pool);
    visit(row.graph, block.graph);
    visit(row.alloc_node, block.alloc_node);
    visit(row.free_node, block.free_node);
    visit(row.allocated, block.allocated);
    visit(row.free_requested, block.free_requested);
    visit(row.free_completed, block.free_completed);
  }
  static uint64_t Hash(const Block& rest) {
    return HashOf(rest.slack, rest.stream.value, rest.free_stream.value, rest.stack.value,
                  rest.free_stack.value);
  }
};
static_assert(sizeof(BlockRow) == 52);

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

// A trace: everything recorded of one process. Plain columns; an id is an index into its column,
// ids are dense and in order of appearance. Nothing here judges or computes: see analysis/.

// Losses of a trace, and their causes. A trace with anything here never passes a gate.
struct Completeness {
  bool truncated = false;          // no end record: the program was killed, or the file was cut
  uint64_t dropped_records = 0;    // the tracer's own count
  std::vector<std::string> notes;  // one sentence each, for people
  bool stopped = false;            // the recording, before the process; a note has the cause
  // Recorded changes to nodes that may or may not count for launches; known once the trace is
  // resolved (ran/resolve.h).
  std::vector<std::string> unapplied;
  bool operator==(const Completeness&) const = default;
};

struct Trace {
  Process process;
  Completeness completeness;
  Seq records = 0;  // records read: every Seq is below it, or kNever

  StringTable strings;
  std::vector<ClockPair> clocks;
  std::vector<Thread> threads;
  std::vector<Kernel> kernels;
  std::vector<KernelParam> kernel_params;
  std::vector<Stack> stacks;
  std::vector<StackFrame> stack_frames;
  std::vector<NvtxRange> nvtx_ranges;

  std::vector<Stream> streams;
  std::vector<Event> events;
  std::vector<Capture> captures;
  StreamOpColumn stream_ops;  // by seq
  std::vector<FrontierEntry> frontier_entries;

  std::vector<Graph> graphs;
  NodeColumn nodes;  // by seq
  EdgeColumn edges;  // by seq
  std::vector<LaunchShape> shapes;
  std::vector<Exec> execs;
  std::vector<ToolIdRun> tool_id_runs;
  std::vector<ExecUpdate> exec_updates;    // by seq
  std::vector<ExecReading> exec_readings;  // by seq
  std::vector<NodeChange> node_changes;    // by seq
  std::vector<Launch> launches;            // by seq
  std::vector<EagerWork> works;            // by seq
  std::vector<EagerCount> eager_counts;    // by seq
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;   // by seq
  std::vector<HostEnd> host_ends;        // by seq
  std::vector<NodeLabel> node_labels;    // by seq
  std::vector<Scalar> scalars;           // by seq
  std::vector<EagerSite> eager_sites;    // by seq
  std::vector<StackTop> stack_tops;      // by seq
  std::vector<HostChange> host_changes;  // by seq
  std::vector<Failure> failures;

  std::vector<ImportedFrom> imported_from;  // at most one
  std::vector<MemoryHistory> histories;     // at most one
  std::vector<HistoryEvents> history_events;

  std::vector<Pool> pools;
  std::vector<Segment> segments;
  BlockColumn blocks;                      // by allocated
  std::vector<BlockStream> block_streams;  // by seq
  AccessColumn accesses;

  std::vector<Nanoseconds>
      times;  // times[seq] of records that carry one; 0 or out of range: unknown

  bool operator==(const Trace&) const = default;

  const Graph& operator[](GraphId id) const { return graphs[id.index()]; }
  [[gnu::always_inline]] const Node operator[](NodeId id) const { return nodes[id.index()]; }
  [[gnu::always_inline]] const Edge operator[](EdgeId id) const { return edges[id.index()]; }
  const Stream& operator[](StreamId id) const { return streams[id.index()]; }
  [[gnu::always_inline]] const Block operator[](BlockId id) const { return blocks[id.index()]; }
  const Pool& operator[](PoolId id) const { return pools[id.index()]; }
  const Segment& operator[](SegmentId id) const { return segments[id.index()]; }
  const Kernel& operator[](KernelId id) const { return kernels[id.index()]; }
  const Communicator& operator[](CommunicatorId id) const { return communicators[id.index()]; }
  const Exec& operator[](ExecId id) const { return execs[id.index()]; }
  std::string_view operator[](StringId id) const { return strings[id]; }
};

// The rows of a column by seq at a place of the trace: RowsAt(trace.scalars, node.seq).
template <typename Row>
std::span<const Row> RowsAt(const std::vector<Row>& all, Seq seq) {
  const auto begin = std::ranges::lower_bound(all, seq, {}, &Row::seq);
  return {begin, std::ranges::upper_bound(begin, all.end(), seq, {}, &Row::seq)};
}

// Of a pool; without one memory is the driver's.
inline PoolKind KindOf(const Trace& trace, PoolId pool) {
  return pool.valid() ? trace[pool].kind : PoolKind::kDevice;
}

// Memory that the program had already, and made known to CUDA (cudaHostRegister).
bool IsRegistered(const Trace& trace, const Block& block);
// Memory of another process or API, mapped into this one.
bool IsImported(const Trace& trace, const Block& block);

// The frames of a stack, innermost first; of no stack none.
inline std::span<const StackFrame> StackFrames(const Trace& trace, StackId stack) {
  if (!stack.valid()) return {};
  const Slice frames = trace.stacks[stack.index()].frames;
  return std::span(trace.stack_frames).subspan(frames.first, frames.count);
}

// Why the trace is incomplete, a reason each, for people; none: it is complete. Beside losses, a
// capture that is open where the program ends: its graph isn't whole.
std::vector<std::string> IncompleteBecause(const Trace& trace);
bool IsComplete(const Trace& trace);

// Null: the trace has no history.
const MemoryHistory* HistoryOf(const Trace& trace);
// Of all devices.
uint64_t CountHistoryEvents(const Trace& trace);
// The place of each event of a device; events count from 0 on each device. None: of all, by device.
std::vector<Seq> PlacesOfEvents(const Trace& trace, std::optional<int16_t> device);
// Appends rows for the events of a device, each of which takes the next place.
void AppendHistoryEvents(Trace* trace, int16_t device, std::span<const Seq> places);
// The distance that a digit stands for; none: it isn't a digit.
std::optional<Seq> StepOf(char digit);

// The name of the format; empty: the trace was recorded.
std::string_view FormatOf(const Trace& trace);

// Driver allocations, and the segments that an allocator makes of them.

using BlocksByAddress = std::multimap<Address, BlockId>;

// The blocks that were asked of the driver: device memory, not handed out of a segment.
BlocksByAddress DriverBlocks(const Trace& trace);

// `first` and the blocks that follow it without a gap, each allocated after the one before it,
// until they have `size` bytes. Empty if they end earlier. An expandable segment grows by several
// such pieces at once.
std::vector<BlockId> RunOfBlocks(const Trace& trace, const BlocksByAddress& blocks, BlockId first,
                                 Bytes size);

// By block: the segment that it is the memory of, or a piece of its memory; may be none.
std::vector<SegmentId> SegmentsOfBlocks(const Trace& trace);

}  // namespace graphkit
