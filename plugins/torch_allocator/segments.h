// Memory from the driver for one pool of one device: named in traces, counted, within the device's
// limit.
#pragma once

#include <map>
#include <string>

#include "libgraphkit/alloc/models/driver_memory.h"
#include "plugins/torch_allocator/cuda_driver.h"

namespace graphkit::torch {

// The segments that the device's pools have.
struct DeviceSegments {
  int device = 0;
  Bytes reserved = 0;
  Bytes peak_reserved = 0;
  Bytes limit = ~Bytes{0};
  std::map<Address, Bytes> segments = {};  // sizes by address
};

class Segments final : public DriverMemory {
 public:
  Segments(CudaDriver* driver, DeviceSegments* of_device, std::string name)
      : driver_(driver), of_device_(of_device), name_(std::move(name)) {}

  std::optional<Address> Allocate(Bytes size) override;
  void Free(Address address, Bytes size) override;
  // Expandable segments aren't used.
  Address Reserve(Bytes) override { return 0; }
  bool Map(Address, Bytes) override { return false; }
  void Unmap(Address, Bytes) override {}

  Bytes reserved() const { return reserved_; }

 private:
  CudaDriver* driver_;
  DeviceSegments* of_device_;
  std::string name_;
  Bytes reserved_ = 0;
};

}  // namespace graphkit::torch
