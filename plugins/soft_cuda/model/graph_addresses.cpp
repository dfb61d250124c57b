#include "plugins/soft_cuda/model/graph_addresses.h"

namespace graphkit::soft {

GraphAddresses::State GraphAddresses::Find(CUdeviceptr address) const {
  auto use = uses_.find(address);
  if (use == uses_.end()) return State::kUnknown;
  return use->second.freed_by == nullptr ? State::kAllocated : State::kFreed;
}

void GraphAddresses::Allocate(CUdeviceptr address, size_t bytes) {
  auto [use, added] = uses_.try_emplace(address, Use{bytes, nullptr});
  if (added || use->second.freed_by == nullptr) return;
  idle_sizes_.erase(idle_sizes_.find(use->second.bytes));
  use->second.freed_by = nullptr;
}

void GraphAddresses::Free(CUdeviceptr address, const Node* by) {
  auto use = uses_.find(address);
  if (use == uses_.end()) return;
  use->second.freed_by = by;
  idle_sizes_.insert(use->second.bytes);
}

bool GraphAddresses::IsIdle(CUdeviceptr address, const Node* freed_by, size_t bytes) const {
  auto use = uses_.find(address);
  return use != uses_.end() && use->second.freed_by == freed_by && use->second.bytes >= bytes;
}

bool GraphAddresses::AnyIdle(size_t bytes) const {
  return !idle_sizes_.empty() && *idle_sizes_.rbegin() >= bytes;
}

}  // namespace graphkit::soft
