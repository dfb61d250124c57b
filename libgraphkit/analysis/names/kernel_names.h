// Kernels by their names: the types of their parameters, and those that exchange data with
// other devices.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// True if a C++ name says that all parameters of a kernel are numbers: then an address among its
// arguments is a coincidence.
bool TakesNumbersOnly(std::string_view mangled);
// True if they are numbers and pointers to numbers or structures: then the kernel has a pointer to
// non-const of what it isn't known to read.
bool TakesPlainPointers(std::string_view mangled);

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

// True if a node's kernel is one of them, in all ways in which it is run.
bool AlwaysRuns(const Trace& trace, NodeId node, const KernelSet& kernels);

// Those that exchange data with other devices: NCCL's (ncclDevKernel_…, ncclKernel_…,
// ncclSymkDevKernel_…; on the software device ncclAllReduce, …) and NVSHMEM's.
KernelSet CommunicationKernels(const Trace& trace);

// True if what touches this copies to memory that isn't a block of the trace, or to host memory.
bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses);

}  // namespace graphkit
