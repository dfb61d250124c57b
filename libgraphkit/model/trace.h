// A trace: everything recorded of one process. Plain columns; an id is an index into its column,
// ids are dense and in order of appearance. Nothing here judges or computes: see analysis/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libgraphkit/model/collective.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/host_memory.h"
#include "libgraphkit/model/imported_from.h"
#include "libgraphkit/model/memory.h"
#include "libgraphkit/model/process.h"
#include "libgraphkit/model/stream.h"
#include "libgraphkit/model/string_table.h"
#include "libgraphkit/model/trace_rows.h"

namespace graphkit {

// Losses of a trace, and their causes. A trace with anything here never passes a gate.
struct Completeness {
  bool truncated = false;          // no end record: the program was killed, or the file was cut
  uint64_t dropped_records = 0;    // the tracer's own count
  std::vector<std::string> notes;  // one sentence each, for people
  bool stopped = false;            // the recording, before the process; a note has the cause
  // Recorded changes to nodes that may or may not count for launches.
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
  std::vector<ChangedNode> changed_nodes;  // by node; what follows from node_changes
  std::vector<GraphVersion> versions;      // by graph and seq; follows from the columns above
  std::vector<Slice> shown_versions;       // by graph: of them, its root's; empty: there are none
  std::vector<Launch> launches;            // by seq
  std::vector<EagerWork> works;            // by seq
  std::vector<EagerCount> eager_counts;    // by seq
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;  // by seq
  std::vector<HostEnd> host_ends;       // by seq
  std::vector<NodeLabel> node_labels;   // by seq
  std::vector<StackTop> stack_tops;     // by seq
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

// The collective operations of the node or the work at a place of the trace.
std::span<const Collective> CollectivesAt(const Trace& trace, Seq seq);
// Accesses to the host's own memory by the node, the change or the work at a place of the trace.
std::span<const HostEnd> HostEndsAt(const Trace& trace, Seq seq);
// The labels of the node at a place of the trace.
std::span<const NodeLabel> LabelsAt(const Trace& trace, Seq seq);

// Why the trace is incomplete, a reason each, for people; none: it is complete. Beside losses, a
// capture that is open where the program ends: its graph isn't whole.
std::vector<std::string> IncompleteBecause(const Trace& trace);
bool IsComplete(const Trace& trace);

}  // namespace graphkit
