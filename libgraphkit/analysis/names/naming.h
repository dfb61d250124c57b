// Names of things: how findings speak of them (short, with the id of the trace), and their titles
// in reports and drawings.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

std::string NameOf(const Ran& trace, GraphId graph);    // "graph 0 'decode'"
std::string NameOf(const Ran& trace, NodeId node);      // "node 7 (Reduce)", "node 3 (memcpy)"
std::string NameOf(const Ran& trace, KernelId kernel);  // "Reduce"
std::string NameOf(const Ran& trace, const EagerWork& work);  // "Reduce", "a memcpy"
std::string NameOf(const Ran& trace, StreamId stream);        // "stream 1 'side'"
std::string NameOf(const Ran& trace, BlockId block);          // "block 4 (12 MiB)"
std::string NameOf(const Ran& trace, ThreadId thread);        // "thread 0 'main'"

// A sentence with things in place of each {}, in their order.
std::string FillIn(std::string_view sentence, std::initializer_list<std::string> things);

// The same of things of a trace under their names, numbers and texts: Say(trace, "{} frees {}",
// node, block) is "node 3 (memory_free) frees block 1 (2 MiB)".
template <typename... Things>
std::string Say(const Ran& trace, std::string_view sentence, const Things&... things) {
  const auto text = [&](const auto& thing) -> std::string {
    using Thing = std::remove_cvref_t<decltype(thing)>;
    if constexpr (std::is_integral_v<Thing>) {
      return std::to_string(thing);
    } else if constexpr (std::is_convertible_v<const Thing&, std::string_view>) {
      return std::string(std::string_view(thing));
    } else {
      return NameOf(trace, thing);
    }
  };
  return FillIn(sentence, {text(things)...});
}

// "count 1048576, bf16, communicator 1 of 2 ranks": what the node or the work at a place of the
// trace does together with other ranks; of a group of calls the first, and how many more. Empty
// for one that doesn't.
std::string CollectivesText(const Ran& trace, Seq seq);

// "Produce triggers, and may write after that; Consume never waits": of an edge that isn't full.
// A name: of a node, or of a kernel.
std::string EarlyStartText(const EarlyStart& start, const std::string& producer,
                           const std::string& consumer);

// "0x7f0000".
std::string HexText(uint64_t number);

// "64x2x1": a grid, or a block of threads.
std::string SizesText(const uint32_t (&sizes)[3]);

// "node 7 (Reduce) was captured on stream 1", "node 7 (Reduce) was added to graph 2".
std::string CapturedOn(const Ran& trace, NodeId node);

// "block 4", "blocks 4, 5 and 6", "blocks 4, 5, 6 and 12 more".
std::string ListOf(std::span<const BlockId> blocks);
std::string ListOf(const Ran& trace, std::span<const StreamId> streams);
std::string ListOf(const std::vector<std::string>& texts);  // "a, b and c"

// The verbs that go with so many.
inline const char* Is(uint64_t count) { return count == 1 ? "is" : "are"; }
inline const char* Was(uint64_t count) { return count == 1 ? "was" : "were"; }

// Where in the trace calls were made, seen from the captures.

// Sorts the captures once, so that a place is found without a look at each. The trace must outlive
// it.
class CapturePlaces {
 public:
  explicit CapturePlaces(const Ran& trace);

  // "in the capture of graph 2 'decode'", "after the capture of graph 2".
  std::string Of(Seq seq) const;

 private:
  // A capture of a graph.
  struct Begun {
    Seq begin = 0;
    Seq last_end = 0;  // of this one and those that began before
    GraphId graph;
    GraphId last;  // that ended last of them
  };

  const Ran& trace_;
  std::vector<Begun> begun_;  // by begin
};

// Kernels by their names: the types of their parameters, and those that exchange data with
// other devices.

// True if a C++ name says that all parameters of a kernel are numbers: then an address among its
// arguments is a coincidence.
bool TakesNumbersOnly(std::string_view mangled);
// True if they are numbers and pointers to numbers or structures: then the kernel has a pointer to
// non-const of what it isn't known to read.
bool TakesPlainPointers(std::string_view mangled);

// The kernels of a trace whose names say something.
class KernelSet {
 public:
  KernelSet(const Ran& trace, bool (*says)(std::string_view name));
  bool Has(KernelId kernel) const {
    return kernel.index() < kernels_.size() && kernels_[kernel.index()];
  }
  bool empty() const { return std::ranges::find(kernels_, true) == kernels_.end(); }

 private:
  std::vector<bool> kernels_;
};

// True if a node's kernel is one of them, in all ways in which it is run.
bool AlwaysRuns(const Ran& trace, NodeId node, const KernelSet& kernels);

// Those that exchange data with other devices: NCCL's (ncclDevKernel_…, ncclKernel_…,
// ncclSymkDevKernel_…; on the software device ncclAllReduce, …) and NVSHMEM's.
KernelSet CommunicationKernels(const Ran& trace);

// The bytes that a copy or a fill writes, or reads where it writes to unknown memory.
Bytes CopiedBytes(const Ran& trace, Slice accesses);

// True if what touches this copies to memory that isn't a block of the trace, or to host memory.
bool CopiesOut(const Ran& trace, NodeKind kind, Slice accesses);

// Titles of things in reports and drawings.

// The C++ name behind a mangled one, printable; what isn't mangled comes back printable.
std::string Demangle(std::string_view name);

// A demangled function name without its return type, parameters and template arguments, in at most
// `columns` columns; enclosing namespaces go first when it is too long:
//
//     void at::native::(anonymous namespace)::fill<4, float>(int, float*)   →   at::native::fill<…>
std::string ShortName(std::string_view demangled, size_t columns);

// "kernel add<…>", "memcpy", "event_record": what a node is, in at most `columns` columns.
std::string NodeTitle(const Ran& trace, NodeId id, size_t columns);

// "recorded on the software device (simulated)", "recorded on NVIDIA H200".
std::string DeviceTitle(DeviceKind device, std::string_view name = {});

// "edge data not available (CUDA 12.1)", of a driver whose edges have none.
void AddMissingEdgeData(const Process& process, std::vector<std::string>& notes);

// Where memory was asked for, when that isn't known.
inline constexpr const char* kNoStack = "no call stack";
inline constexpr const char* kBeforeRecording = "allocated before recording began (no stack)";

// "stream 2", "stream 2 \"copy\"", "legacy default stream".
std::string StreamTitle(const Ran& trace, StreamId id);

// "graph 3", "graph 3 \"decode\"".
std::string GraphTitle(const Ran& trace, GraphId id);
std::string GraphTitle(GraphId id, std::string_view name);

// "pool 1 (graph)", "pool 2 (allocator, decode)".
std::string PoolTitle(const Ran& trace, PoolId id);

// The program's own code first, then what it called to get there:
// "train.py:17 forward, in torch/nn/modules/linear.py:134 forward"; empty for no stack. Of a stack
// with PyTorch's native frames the line and the operator: "llama/modeling_llama.py:216 silu".
std::string StackTitle(const Ran& trace, StackId id);

// The first stack that the finding or what it names has.
StackId StackOf(const Finding& finding, const Ran& trace);

// Why the finding has no source line, and what would name one; empty: it has one, or nothing would.
std::string MissingLine(const Finding& finding, const Ran& trace);

}  // namespace graphkit
