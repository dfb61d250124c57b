#include "plugins/soft_cuda/driver/stream/leftovers.h"

#include "plugins/soft_cuda/driver/stream/submit.h"

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
  Device& device = Device::Get();
  std::erase_if(device.launches, [&](const WorkMark& m) { return device.worker.IsDone(m); });
  if (!device.launches.empty()) {  // they may use the objects
    Work work = HostWork("a user object's destructor", [destructors = left.destructors] {
      for (const HostParams& destructor : destructors) destructor.function(destructor.user_data);
    });
    work.after = device.launches;
    device.worker.Add(std::make_shared<WorkLine>(), std::move(work));
    return;
  }
  ThreadState& thread = CurrentThread();
  lock.unlock();
  thread.in_host_function = true;
  for (const HostParams& destructor : left.destructors) destructor.function(destructor.user_data);
  thread.in_host_function = false;
  lock.lock();
}

}  // namespace graphkit::soft::driver
