// Who holds memory: blocks grouped by the line that asked for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/analysis/names/stack_name.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Blocks of one line; of what no line is known, those of one operator, or of nothing that is known.
// Where none has a stack those of one pool.
struct HeldGroup {
  enum class Kind : uint8_t {
    kLine,
    kOperation,        // native frames only: a backward in a thread of its own
    kNoStack,          // allocated while recording
    kBeforeRecording,  // and no stack is known
    kPool,
  };
  Kind kind = Kind::kLine;
  std::string place = {};                    // "llama/modeling_llama.py:216"
  std::string file = {};                     // in full; empty without a line
  std::string function = {};                 // that the line is in
  uint32_t line = 0;                         // 0: without a line
  std::vector<std::string> operations = {};  // those of most bytes first
  MemoryRole role = MemoryRole::kOther;      // of its largest block
  PoolId pool = {};                          // kPool
  Bytes bytes = 0;                           // as allocated
  uint64_t blocks = 0;
  StackId stack = {};  // of its largest block
  bool operator==(const HeldGroup&) const = default;
};

// The names of all stacks of a trace, by their ids.
std::vector<StackName> NamesOfStacks(const Trace& trace);

// The most bytes first. `first_event`: blocks from before it are from before recording.
std::vector<HeldGroup> GroupHeld(const Trace& trace, std::span<const StackName> names,
                                 std::span<const BlockId> blocks, Seq first_event);

}  // namespace graphkit
