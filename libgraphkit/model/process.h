// The traced process: who it was, its threads, clocks, kernels and call stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/units.h"

namespace graphkit {

// The device of the recording. Soft: graphkit's software device, a simulation.
enum class DeviceKind : uint8_t { kCuda, kSoft, kImported };

// Where a record came from.
enum class Source : uint8_t {
  kCallback,  // a CUPTI callback
  kWalk,      // read back from the driver's graph
  kDerived,   // concluded from other records
  kImported,  // another tool's file
};

struct Process {
  DeviceKind device = DeviceKind::kImported;
  int64_t pid = 0;
  std::string program;            // path, as executed, or the title that it gave itself
  std::string executable;         // the file that ran, where that isn't plain from `program`
  std::vector<std::string> args;  // without the program itself
  std::string device_name;        // "NVIDIA H200"; empty: unknown
  int driver_version = 0;         // as cuDriverGetVersion: 13000; 0: unknown
  int runtime_version = 0;        // as cudaRuntimeGetVersion
  int cupti_version = 0;          // as cuptiGetVersion
  std::string cupti_path;         // the libcupti that was used
  std::string tracer_version;     // graphkit's own
  // "NAME=value" of the variables that change what CUDA, NCCL and PyTorch do with memory and
  // graphs; empty: not recorded.
  std::vector<std::string> environment;
  // Why the source has no sizes of memory: "a drawing has none"; empty: it has them. Then memory
  // that isn't recorded isn't known, and no figure of it is zero (analysis/memory/known_memory.h).
  std::string unknown_memory;
  bool all_work = false;  // Trace::works has all work outside of captures (`--scope all`)
  Seq seq = 0;            // of the first process record
  bool operator==(const Process&) const = default;
};

// One reading of both clocks at once.
struct ClockPair {
  Nanoseconds monotonic = 0;  // since the trace began
  int64_t wall = 0;           // ns since 1970-01-01 UTC
  Seq seq = 0;
  bool operator==(const ClockPair&) const = default;
};

struct Thread {
  int64_t tid = 0;  // the system's thread id
  StringId name;
  Seq created = 0;
  bool operator==(const Thread&) const = default;
};

enum class Ternary : uint8_t { kUnknown, kNo, kYes };

// A kernel lets its programmatic dependents start before its end: on no way through it, on
// some (in some blocks, so far as is known), on each.
enum class Triggers : uint8_t { kUnknown, kNo, kSome, kYes };

// One parameter in a kernel's argument buffer.
struct KernelParam {
  uint32_t offset = 0;  // bytes
  uint32_t size = 0;    // bytes
  bool operator==(const KernelParam&) const = default;
};

struct Kernel {
  StringId name;  // mangled, as the driver has it
  Slice params;   // in Trace::kernel_params; empty with has_layout false: layout unknown
  bool has_layout = false;
  // It waits for its grid dependencies (griddepcontrol.wait in its PTX or SASS): only then
  // does its end prove the end of a programmatic predecessor.
  Ternary waits = Ternary::kUnknown;
  // It lets them start early (griddepcontrol.launch_dependents), and a write to
  // global memory may follow that. Else they start when all its blocks have ended.
  Triggers triggers = Triggers::kUnknown;
  Ternary writes_after_trigger = Ternary::kUnknown;
  Seq created = 0;
  bool operator==(const Kernel&) const = default;
};

// A call stack: frames in Trace::stack_frames, innermost first.
struct Stack {
  Slice frames;
  Seq created = 0;
  bool operator==(const Stack&) const = default;
};

struct StackFrame {
  StringId function;  // demangled where known
  StringId file;      // source file, or the object when the source isn't known
  uint32_t line = 0;  // 1-based; 0: unknown
  bool operator==(const StackFrame&) const = default;
};

// An NVTX range that was open on a thread: [begin, end) in records.
struct NvtxRange {
  ThreadId thread;
  StringId domain;
  StringId name;
  uint32_t colour = 0;  // alpha, red, green, blue, from the highest byte; 0: none
  Seq begin = 0;
  Seq end = kNever;
  bool operator==(const NvtxRange&) const = default;
};

// The file of another tool that a trace was imported from, and the history in it.
struct ImportedFrom {
  StringId format;   // FileFormat::name: "torch-snapshot"
  StringId file;     // as the user named it; "-": standard input
  StringId summary;  // one line about the file
  Seq seq = 0;
  bool operator==(const ImportedFrom&) const = default;
};

// An allocator's record of its last events, which begins here: blocks that stand earlier were
// allocated before recording began.
struct MemoryHistory {
  uint32_t devices = 0;  // in the file
  Seq seq = 0;
  bool operator==(const MemoryHistory&) const = default;
};

// The places of consecutive events of one device: the first, and for each event a digit in base 36,
// its distance to the event before it (0 for the first). A free is often two events at one place.
//
//     first 12, steps "0103"    events at the places 12, 13, 13, 16
struct HistoryEvents {
  int16_t device = 0;
  Seq first = 0;
  StringId steps;
  Seq seq = 0;
  bool operator==(const HistoryEvents&) const = default;
};

}  // namespace graphkit
