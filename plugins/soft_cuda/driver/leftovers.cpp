#include "plugins/soft_cuda/driver/leftovers.h"

namespace graphkit::soft::driver {

void ReleaseIfUnused(CUdeviceptr address) {
  Device& device = Device::Get();
  auto block = device.allocations.find(address);
  if (block == device.allocations.end() || block->second.kind != AllocationKind::kGraph) return;
  if (!block->second.live && !device.graphs.HasAddress(address)) device.Release(address);
}

void Settle(Lock& lock) {
  const Leftovers left = Device::Get().graphs.TakeLeftovers();
  for (const CUdeviceptr address : left.addresses) ReleaseIfUnused(address);
  if (left.destructors.empty()) return;
  ThreadState& thread = CurrentThread();
  lock.unlock();
  thread.in_host_function = true;
  for (const HostParams& destructor : left.destructors) destructor.function(destructor.user_data);
  thread.in_host_function = false;
  lock.lock();
}

}  // namespace graphkit::soft::driver
