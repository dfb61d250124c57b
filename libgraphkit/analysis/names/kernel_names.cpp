#include "libgraphkit/analysis/names/kernel_names.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "libgraphkit/demangle.h"
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

// True if a C++ name's parameters are all such.
bool AllParametersAre(bool (*such)(std::string_view type), std::string_view mangled) {
  const std::optional<std::string> name = DemangledName(mangled);
  if (!name) return false;
  std::string_view types = *name;
  const size_t open = types.rfind('(');
  if (open == std::string_view::npos || !types.ends_with(")")) return false;
  types = types.substr(open + 1, types.size() - open - 2);
  while (!types.empty()) {
    const size_t comma = std::min(types.find(", "), types.size());
    if (!such(types.substr(0, comma))) return false;
    types.remove_prefix(std::min(comma + 2, types.size()));
  }
  return true;
}

bool IsPlain(std::string_view type) {
  return IsNumber(type) || (type.ends_with('*') && !type.ends_with("**"));
}

}  // namespace

bool TakesNumbersOnly(std::string_view mangled) { return AllParametersAre(IsNumber, mangled); }

bool TakesPlainPointers(std::string_view mangled) { return AllParametersAre(IsPlain, mangled); }

KernelSet::KernelSet(const Trace& trace, bool (*says)(std::string_view name)) {
  for (const Kernel& kernel : trace.kernels) kernels_.push_back(says(trace[kernel.name]));
}

bool AlwaysRuns(const Trace& trace, NodeId node, const KernelSet& kernels) {
  if (!kernels.Has(trace[node].kernel)) return false;
  const ChangedNode* changed = FindChanged(trace, node);
  return changed == nullptr || !changed->kernels_vary;
}

KernelSet CommunicationKernels(const Trace& trace) {
  return {trace, [](std::string_view name) {
            if (name.starts_with("nccl")) return true;  // a call of the software device's NCCL
            constexpr std::string_view kKnown[] = {"ncclDevKernel", "ncclKernel", "ncclSymk",
                                                   "nvshmem"};
            return std::ranges::any_of(kKnown, [&](std::string_view known) {
              return name.find(known) != std::string_view::npos;
            });
          }};
}

bool CopiesOut(const Trace& trace, NodeKind kind, Slice accesses) {
  if (kind != NodeKind::kMemcpy) return false;
  bool reads = false;
  for (const Access& access : trace.accesses.Of(accesses)) {
    if (access.mode == AccessMode::kRead) {
      reads = true;
      continue;
    }
    const PoolId pool = trace[access.block].pool;
    if (!pool.valid() || trace[pool].kind != PoolKind::kHost) return false;
  }
  return reads;
}

}  // namespace graphkit
