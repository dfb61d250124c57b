// What the names of kernels say: what their parameters are, and which of them exchange data with
// other devices.
#pragma once

#include <string_view>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Whether a kernel may be given pointers: false only for a C++ name whose parameters are all
// numbers. An address that stands in the arguments of such a kernel is a coincidence.
bool MayTakePointers(std::string_view mangled);

// By kernel: whether it takes numbers only.
std::vector<bool> TakesNumbersOnly(const Trace& trace);
// Whether a node's kernel does, in all ways in which it is run; `kernels`: of each, as above.
bool TakesNumbersOnly(const Trace& trace, NodeId node, const std::vector<bool>& kernels);

// Which nodes exchange data with other devices, and which memory they exchange.

// Whether a node runs one of NCCL's kernels (ncclDevKernel_…, ncclKernel_…, ncclSymkDevKernel_…; on
// the software device ncclAllReduce, …) or NVSHMEM's. Known by the kernel's name alone.
bool Communicates(const Trace& trace, NodeId node);

// Whether what touches this copies to memory that isn't a block of the trace, or to host memory.
bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses);

// By kernel: whether its name is one of a communication library's.
std::vector<bool> CommunicationKernels(const Trace& trace);

}  // namespace graphkit
