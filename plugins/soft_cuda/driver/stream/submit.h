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

// The works of an operation, in order; none for a kernel.
std::vector<Work> WorksOf(const NodeParams& params);
// Applies an operation's changes to the model; NOT_SUPPORTED: it can't be done.
CUresult Apply(const NodeParams& params);
Work HostWork(std::string what, std::function<void()> function);

// Moves the modelled clock of a stream on; the legacy stream and blocking streams wait for each
// other.
void Advance(Stream* stream, uint64_t ns);
// The host waits for a stream.
void HostWaits(uint64_t until_ns);

// Checks for calls that capturing forbids to this thread (error 900).
inline CUresult CheckUnsafe() { return Device::Get().captures.CheckUnsafe(CurrentThread()); }

}  // namespace graphkit::soft::driver
