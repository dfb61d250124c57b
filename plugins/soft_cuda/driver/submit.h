// How work enters a stream: into the graph of a capture, or into the stream's line. What the model
// knows (times, allocations, semaphores) changes during the call; memory and host functions have
// their turn in the order of the streams.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

// The stream behind a handle, fit to take work: not an invalidated capture, no forbidden use of the
// legacy stream.
CUresult StreamForWork(CUstream handle, Stream** stream);

// Puts one operation into the stream.
CUresult Submit(Stream* stream, CUgraphNodeType type, NodeParams params);
CUresult Submit(CUstream handle, CUgraphNodeType type, NodeParams params);

// Adds to the stream's line, after what the legacy stream and blocking streams owe each other.
WorkMark Push(Stream* stream, Work work);
// The end of all work so far.
WorkMark End(Stream* stream);
// The host waits, with the lock released. LAUNCH_TIMEOUT, with an explanation on stderr, where it
// would wait for ever.
CUresult WaitFor(Lock& lock, const WorkMark& mark);
CUresult WaitForAll(Lock& lock);
// Of a call that may have had bytes written: OUT_OF_MEMORY, with an explanation on stderr, where
// there was no host memory for them; ILLEGAL_ADDRESS, until a context is destroyed, once one was to
// go where nothing is mapped.
CUresult CheckMemory(CUresult result);
// The end of a call of the user's that waits for a stream, an event or a context.
CUresult Synchronized(CUresult waited);

// Of a call that no capture records, and that leaves the stream's capture as it was: UNSUPPORTED
// there.
CUresult RefuseCapture(CUstream handle);

// A copy of any kind (copy.cpp). The call waits where pageable memory takes part.
CUresult EnqueueCopy(const CUDA_MEMCPY3D& copy, CUstream stream);
// On the legacy stream; the host waits for it.
CUresult CopyAtOnce(const CUDA_MEMCPY3D& copy);

// Puts a graph into the stream (run_graph.cpp).
CUresult RunGraph(Stream* stream, Graph* graph);

// A conditional node runs when its turn comes, as one work that looks at the handle's value and
// does what the chosen body's nodes do, in the order of the body (conditional.cpp).

// Sets the handles of a graph and of those inside it to what they start a launch with.
std::vector<Work> StartsOfHandles(const Graph& exec);
// A copy of the node's bodies: the exec may change or go before the work's turn.
Work ConditionalWork(const ConditionalParams& params);

// A WHILE node that starts with a value other than 0 and that nothing here sets to 0.
enum class Loop : uint8_t {
  kNone,
  kEndedByKernel,  // a kernel has the handle among its arguments
  kEndless
};
Loop FindLoop(const Graph& exec);

// The works of an operation, in order; none for a kernel.
std::vector<Work> WorksOf(const NodeParams& params);
// Applies an operation's changes to the model; NOT_SUPPORTED: it can't be done.
CUresult Apply(const NodeParams& params);
Work HostWork(std::string what, std::function<void()> function);

// How long work takes on the modelled clock. A kernel takes as long as its blocks have to wait for
// each other: one step for each time that they fill all multiprocessors.
uint64_t KernelNs(const Function& function, const LaunchShape& shape, const Gpu& gpu);
uint64_t DurationNs(const NodeParams& params, const Gpu& gpu);

// Moves the modelled clock of a stream on; the legacy stream and blocking streams wait for each
// other.
void Advance(Stream* stream, uint64_t ns);
// The host waits for a stream.
void HostWaits(uint64_t until_ns);

// Frees an allocation of any kind but the host's; one of a graph keeps its address.
CUresult FreeBlock(uint64_t address, Stream* stream);

// Checks for calls that capturing forbids to this thread (error 900).
inline CUresult CheckUnsafe() { return Device::Get().captures.CheckUnsafe(CurrentThread()); }

}  // namespace graphkit::soft::driver
