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
#include <string>
#include <vector>

#include "libgraphkit/io/import/trace_maker.h"

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

}  // namespace graphkit
