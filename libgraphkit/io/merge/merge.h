// Joins several sources of one process into one trace:
//
//   topology    a trace of graphkit, else PyTorch's graph data or the driver's drawings
//   memory      a PyTorch snapshot: segments, blocks, frees, Python stacks
//   durations   profiles of Kineto or Nsight Systems
//   origins     PyTorch's launch stacks and annotations of nodes
//
// Records are put in order by the wall clock; driver allocations that a trace and the snapshot both
// saw come first, and correct the difference of the clocks. Blocks are joined with what nodes touch
// by address, blocks with captures by time, durations with nodes by tools id and the kernel's name,
// origins by tools id. What can't be joined is counted, and listed. Files of
// several processes are refused where they tell (JudgeProcess).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/io/trace/record_rows.h"

namespace graphkit {

struct MergeInput {
  std::string name;  // as the user named the file
  Imported imported;
};

struct NotJoined {
  std::string what;  // "runs of nodes that no graph has"
  uint64_t count = 0;
  std::vector<std::string> examples;  // the first few
  bool operator==(const NotJoined&) const = default;
};

struct Merged {
  Trace trace;
  std::vector<std::string> joined;  // a line each, for people
  std::vector<NotJoined> not_joined;
  std::vector<std::string> warnings = {};  // where it can't be told that files are of one process
};

enum class MergeOf : uint8_t {
  kFiles,       // that may be of several processes: refused where they tell
  kOneProcess,  // known to be
};

Result<Merged> Merge(std::vector<MergeInput> inputs, MergeOf of = MergeOf::kFiles);

// The joins, each for itself.

// Collects what isn't joined, by what it is.
class NotJoinedList {
 public:
  void Add(const std::string& what, const std::string& example);
  std::vector<NotJoined> Take() { return std::move(list_); }

 private:
  std::vector<NotJoined> list_;
};

// A kernel's name without templates, arguments and namespaces' mangling: "square" of
// "_Z6squarePfi" and of "void square<4>(float*, int)".
std::string BaseName(std::string_view kernel);

// Gives nodes their mean durations; returns how many got one.
size_t JoinTimes(std::span<const NodeTime> times, const std::map<uint64_t, NodeId>& by_tool_id,
                 Trace* trace, NotJoinedList* not_joined);

// Gives nodes their launch stacks, where they have none, and their labels; returns how many.
size_t JoinOrigins(std::span<const NodeOrigin> origins, const MovedSource& moved,
                   const std::map<uint64_t, NodeId>& by_tool_id, Trace* trace,
                   NotJoinedList* not_joined);

// By tools id: the nodes of graphs that a tracer recorded, in their execs and in the graphs
// themselves.
void AddTracedToolIds(const Trace& trace, std::map<uint64_t, NodeId>* by_tool_id);

// Blocks that came from the snapshot: those allocated while a graph was captured belong to it.
size_t JoinCaptures(std::span<const BlockId> blocks, Trace* trace, NotJoinedList* not_joined);

// A block that its segment was got for takes over the stack that tells a library's workspace, which
// the tracer saw (plugins/cupti_tracer/stacks/call_stack.h): its own names the line that first
// needed it.
void JoinWorkspaces(std::span<const BlockId> blocks, Trace* trace);

// Accesses of nodes to segments become accesses to the blocks inside; how many are to the
// snapshot's (`blocks`, ascending).
size_t JoinAccesses(std::span<const BlockId> blocks, Trace* trace, NotJoinedList* not_joined);

// Tells if files that are to be merged are of one process.
//
// A snapshot doesn't name its process. But a tracer sees all that the process asks of the driver,
// and PyTorch writes a segment down right after the driver gave its memory:
//
//     trace      cudaMalloc 0x7f00…    cudaMalloc 0x7f20…             end
//     snapshot      segment 0x7f00…       segment 0x7f20…   history
//                └─ some µs later, and always as much
//
// On other processes' memory the addresses, the times or the delays don't fit.
//
// Refuses what tracers recorded of two processes.
Result<void> OfOneProcess(std::span<const MergeInput* const> topologies);

// Evidence on a trace and a snapshot being of one process.
struct ProcessEvidence {
  uint64_t segments = 0;    // of the snapshot: memory that the driver gave
  uint64_t seen = 0;        // of those, where the trace saw memory asked for
  bool saw_driver = false;  // the trace saw memory asked for
  bool whole = false;       // and all of it
  // By how much earlier (negative) or later the trace saw the same allocations, in ns.
  std::vector<int64_t> differences = {};
  // Wall times in ns. Nothing: it has none.
  std::optional<Interval<int64_t>> trace_time = {};
  std::optional<Interval<int64_t>> snapshot_time = {};
};

// Segments of the snapshot in memory of the trace, by address.
void CountSeen(const Trace& snapshot, const Trace& trace, ProcessEvidence* evidence);

// An error where they can't be of one process; a warning where nothing says that they are; else "".
// `trace` and `snapshot`: their files, as the user named them.
Result<std::string> JudgeProcess(const ProcessEvidence& evidence, const std::string& trace,
                                 const std::string& snapshot);

}  // namespace graphkit
