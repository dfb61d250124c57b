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
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/io/merge/merge.h"

namespace graphkit {

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
