#include "libgraphkit/alloc/models/driver_memory.h"

namespace graphkit {

std::optional<Address> BumpDriver::Allocate(Bytes size) {
  const Address address = next_;
  if (!Map(address, size)) return std::nullopt;
  return Reserve(size);
}

void BumpDriver::Free(Address address, Bytes size) { Unmap(address, size); }

Address BumpDriver::Reserve(Bytes size) {
  const Address address = next_;
  next_ += RoundUp(size, kGranularity);
  return address;
}

bool BumpDriver::Map(Address, Bytes size) {
  if (size > capacity_ - used_) return false;
  used_ += size;
  return true;
}

void BumpDriver::Unmap(Address, Bytes size) { used_ -= size; }

}  // namespace graphkit
