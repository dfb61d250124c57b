// What the names of kernels say: what their parameters are, and which of them exchange data with
// other devices.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Whether a kernel may be given pointers: false only for a C++ name whose parameters are all
// numbers. An address that stands in the arguments of such a kernel is a coincidence.
bool MayTakePointers(std::string_view mangled);

// The kernels of a trace whose names say something.
class KernelSet {
 public:
  KernelSet(const Trace& trace, bool (*says)(std::string_view name));
  bool Has(KernelId kernel) const {
    return kernel.index() < kernels_.size() && kernels_[kernel.index()];
  }
  bool empty() const { return std::ranges::find(kernels_, true) == kernels_.end(); }

 private:
  std::vector<bool> kernels_;
};

KernelSet NumbersOnlyKernels(const Trace& trace);
// Whether a node's kernel takes numbers only, in all ways in which it is run; `kernels`: as above.
bool TakesNumbersOnly(const Trace& trace, NodeId node, const KernelSet& kernels);

// Those that exchange data with other devices: NCCL's (ncclDevKernel_…, ncclKernel_…,
// ncclSymkDevKernel_…; on the software device ncclAllReduce, …) and NVSHMEM's.
KernelSet CommunicationKernels(const Trace& trace);

// Whether what touches this copies to memory that isn't a block of the trace, or to host memory.
bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses);

}  // namespace graphkit
