// The process's allocator: one for each device, the plan, and the report at the end.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/torch_allocator/device_allocator.h"

namespace graphkit::torch {

class TorchAllocator {
 public:
  // Null: there is no usable CUDA driver, which is said once.
  static TorchAllocator* Get();

  // Null: there is no such device.
  DeviceAllocator* Device(int device);
  std::vector<DeviceAllocator*> Devices();  // that were asked of anything
  // The first device for which this is true; false: none.
  template <typename Call>
  bool Any(const Call& call) {
    for (DeviceAllocator* device : Devices()) {
      if (call(*device)) return true;
    }
    return false;
  }
  bool WriteReport(const std::string& path);
  const Settings& settings() const { return settings_; }

 private:
  explicit TorchAllocator(CudaDriver* driver);

  Settings settings_;
  CudaDriver* driver_;
  std::unique_ptr<PlanGuide> plan_;
  std::mutex mutex_;  // of devices_
  std::map<int, std::unique_ptr<DeviceAllocator>> devices_;
};

// One line on stderr.
void Say(std::string_view line) noexcept;

}  // namespace graphkit::torch
