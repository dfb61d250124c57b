// How work enters a stream: into the graph of a capture, or done at once in stream order.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

// The stream behind a handle, fit to take work: not an invalidated capture, no forbidden use of the
// legacy stream.
CUresult StreamForWork(CUstream handle, Stream** stream);

// Puts one operation into the stream. Host functions run with the lock released.
CUresult Submit(Lock& lock, Stream* stream, CUgraphNodeType type, NodeParams params);
CUresult Submit(Lock& lock, CUstream handle, CUgraphNodeType type, NodeParams params);

// Executes what a node holds. `lock` is released around host functions.
CUresult Run(Lock& lock, Stream* stream, const NodeParams& params);
CUresult RunGraph(Lock& lock, Stream* stream, Graph* graph);

// Moves the modelled clock of a stream on; the legacy stream and blocking streams wait for each
// other.
void Advance(Stream* stream, uint64_t ns);
// The host waits for a stream.
void HostWaits(uint64_t until_ns);

// Frees an allocation of any kind but the host's; one of a graph keeps its address.
CUresult FreeBlock(uint64_t address);

// Checks for calls that capturing forbids to this thread (error 900).
inline CUresult CheckUnsafe() { return Device::Get().captures.CheckUnsafe(CurrentThread()); }

}  // namespace graphkit::soft::driver
