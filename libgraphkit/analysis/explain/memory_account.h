// The memory of one device in a recorded run: how much was reserved and in use, its holders
// when most was in use, and what of it is worth a look.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/names.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Who holds memory: blocks grouped by the line that asked for them.

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
std::vector<StackName> NamesOfStacks(const Ran& trace);

// A possible change, with the memory that it concerns.
struct MemoryRemark {
  enum class Kind : uint8_t {
    kOutOfMemory,
    kForwardKept,      // memory of forwards outlives the last backward, or there was none
    kIdle,             // reserved and not in use at the end
    kLossBlocks,       // large blocks of the loss at the peak
    kSoftmaxBlocks,    // those of softmax: the scores of an attention that isn't fused
    kDeferred,         // freed, and held back for other streams
    kBeforeRecording,  // most of the peak was allocated before recording began
  };
  Kind kind = Kind::kIdle;
  Bytes bytes = 0;
  std::string text = {};
  std::string advice = {};
  bool operator==(const MemoryRemark&) const = default;
};

GRAPHKIT_NAMES(MemoryRemark::Kind, "out-of-memory", "forward-kept", "idle", "loss-blocks",
               "softmax-blocks", "deferred", "before-recording")

// An allocation that failed for lack of memory.
struct OutOfMemoryEvent {
  uint64_t event = 0;  // of the device's history
  Seq seq = 0;
  Bytes asked = 0;
  Bytes free_on_device = 0;
  bool operator==(const OutOfMemoryEvent&) const = default;
};

struct MemoryAccount {
  DeviceIndex device = 0;
  MemoryMoments moments = {};
  Seq first_event = 0;       // earlier blocks were allocated before recording began
  bool has_history = true;   // false: only the state at the end is known
  bool python_only = false;  // stacks of a snapshot: threads of autograd have none then
  std::optional<uint64_t> peak_event = {};  // that of the peak in use, of a snapshot with history
  // Whose holders are told.
  MemoryAt told = {};
  std::optional<OutOfMemoryEvent> out_of_memory = {};
  StackId peak_stack = {};  // of the allocation that made the peak
  std::vector<HeldGroup> holders = {};
  IdleMemory idle_at_end = {};
  std::vector<MemoryRemark> remarks = {};  // out of memory, then the most bytes first
  bool operator==(const MemoryAccount&) const = default;
};

// Whose holders are told.
enum class Told : uint8_t {
  kMost,  // the last failure for lack of memory, which may have ended the program, else the peak
  kEnd,
};

// Of each device that has memory, the most in use first.
std::vector<MemoryAccount> AccountForMemory(const MemoryFacts& facts, Told told = Told::kMost);

// Parts of the remarks of AccountForMemory.

struct KeptByForward {
  Bytes bytes = 0;
  uint64_t blocks = 0;
  bool backward_ran = false;
  std::string caller = {};  // "train.py:21": the line that ran the model; empty: not known
  bool operator==(const KeptByForward&) const = default;
};
// Blocks of forwards that were never freed, that no graph has, and that were allocated before the
// last that a backward allocated; all of them where there was no backward. Workspaces, which
// libraries keep, are left out where native frames show them.
KeptByForward FindKeptByForward(const MemoryFacts& facts, std::span<const StackName> names,
                                DeviceIndex device, Seq first_event);

// Blocks in use whose line or operator is about one thing.
struct FamilyBlocks {
  Bytes bytes = 0;
  uint64_t blocks = 0;
  Bytes most_alike = 0;  // the size that most of the bytes are in
  uint64_t alike = 0;    // how many have it
  std::string place;     // of the largest
  bool operator==(const FamilyBlocks&) const = default;
};
enum class OperatorFamily : uint8_t { kLoss, kSoftmax };
FamilyBlocks FindFamily(const Ran& trace, std::span<const StackName> names,
                        std::span<const BlockId> blocks, OperatorFamily family);

}  // namespace graphkit
