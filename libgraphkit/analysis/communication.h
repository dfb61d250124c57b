// Which nodes exchange data with other devices, and which memory they exchange.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Whether a node runs one of NCCL's kernels (ncclDevKernel_…, ncclKernel_…, ncclSymkDevKernel_…; on
// the software device ncclAllReduce, …) or NVSHMEM's. Known by the kernel's name alone.
bool Communicates(const Trace& trace, NodeId node);

// Whether what touches this copies to memory that isn't a block of the trace, or to host memory.
bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses);

// By kernel: whether its name is one of a communication library's.
std::vector<bool> CommunicationKernels(const Trace& trace);

}  // namespace graphkit
