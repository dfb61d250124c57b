#include "libgraphkit/analysis/names/kernel_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "libgraphkit/model/node_versions.h"

namespace graphkit {

namespace {

constexpr std::string_view kNumbers[] = {
    "",      "bool",           "char",      "signed char",        "unsigned char",
    "short", "unsigned short", "int",       "unsigned int",       "long",
    "float", "unsigned long",  "long long", "unsigned long long", "double"};

bool IsNumber(std::string_view type) {
  return std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers);
}

}  // namespace

bool MayTakePointers(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return true;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return true;
  std::string_view types = text.get();
  const size_t open = types.rfind('(');
  if (open == std::string_view::npos || !types.ends_with(")")) return true;
  types = types.substr(open + 1, types.size() - open - 2);
  while (!types.empty()) {
    const size_t comma = std::min(types.find(", "), types.size());
    if (!IsNumber(types.substr(0, comma))) return true;
    types.remove_prefix(std::min(comma + 2, types.size()));
  }
  return false;
}

std::vector<bool> TakesNumbersOnly(const Trace& trace) {
  std::vector<bool> only(trace.kernels.size());
  for (size_t i = 0; i < only.size(); ++i) only[i] = !MayTakePointers(trace[trace.kernels[i].name]);
  return only;
}

bool TakesNumbersOnly(const Trace& trace, NodeId node, const std::vector<bool>& kernels) {
  const KernelId kernel = trace[node].kernel;
  if (kernel.index() >= kernels.size() || !kernels[kernel.index()]) return false;
  const ChangedNode* changed = FindChanged(trace, node);
  return changed == nullptr || !changed->kernels_vary;
}

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
