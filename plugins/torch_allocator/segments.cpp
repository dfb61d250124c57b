#include "plugins/torch_allocator/segments.h"

#include <graphkit/annotate.h>

#include <algorithm>

namespace graphkit::torch {

std::optional<Address> Segments::Allocate(Bytes size) {
  DeviceSegments& all = *of_device_;
  if (size > all.limit || all.reserved > all.limit - size) return {};
  const std::optional<Address> address = driver_->Malloc(all.device, size);
  if (!address) return {};
  reserved_ += size;
  all.reserved += size;
  all.peak_reserved = std::max(all.peak_reserved, all.reserved);
  all.segments[*address] = size;
  graphkit_pool(reinterpret_cast<const void*>(*address), size, name_.c_str());  // NOLINT
  return address;
}

void Segments::Free(Address address, Bytes size) {
  of_device_->segments.erase(address);
  of_device_->reserved -= size;
  reserved_ -= size;
  driver_->Free(of_device_->device, address);
}

}  // namespace graphkit::torch
