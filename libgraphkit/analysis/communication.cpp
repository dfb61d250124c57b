#include "libgraphkit/analysis/communication.h"

#include <string_view>

namespace graphkit {
namespace {

bool NamesCommunication(std::string_view name) {
  if (name.starts_with("nccl")) return true;  // a call of the software device's NCCL
  for (const std::string_view known :
       {"ncclDevKernel", "ncclKernel", "ncclSymk", "nvshmem", "nvshmemi"}) {
    if (name.find(known) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool Communicates(const Trace& trace, NodeId node) {
  const KernelId kernel = trace[node].kernel;
  return trace[node].kind == NodeKind::kKernel && kernel.index() < trace.kernels.size() &&
         NamesCommunication(trace[trace[kernel].name]);
}

bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses) {
  if (kind != NodeKind::kMemcpy) return false;
  bool reads = false;
  for (uint32_t i = 0; i < accesses.count; ++i) {
    const Access& access = trace.accesses[accesses.first + i];
    if (access.mode == AccessMode::kRead) {
      reads = true;
      continue;
    }
    const PoolId pool = trace[access.block].pool;
    if (!pool.valid() || trace[pool].kind != PoolKind::kHost) return false;
  }
  return reads;
}

std::vector<bool> CommunicationKernels(const Trace& trace) {
  std::vector<bool> communicates(trace.kernels.size());
  for (size_t i = 0; i < communicates.size(); ++i) {
    communicates[i] = NamesCommunication(trace[trace.kernels[i].name]);
  }
  return communicates;
}

}  // namespace graphkit
