// Where an allocator model gets its memory: the driver, reduced to what the models ask of it.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

class DriverMemory {
 public:
  virtual ~DriverMemory() = default;

  // cudaMalloc. Nothing: out of memory.
  virtual std::optional<Address> Allocate(Bytes size) = 0;
  virtual void Free(Address address, Bytes size) = 0;

  // Address space for an expandable segment, without memory behind it; never given back.
  virtual Address Reserve(Bytes size) = 0;
  // Memory behind [address, address + size). False: out of memory.
  virtual bool Map(Address address, Bytes size) = 0;
  virtual void Unmap(Address address, Bytes size) = 0;

  // For recorded runs, whose memory limit isn't known. Whether more would be above it.
  virtual bool Exhausted() const { return false; }
  // True if these segments were collected as garbage.
  virtual bool Collected(std::span<const Address>) const { return false; }
  // Those of these segments that were, where the model can't know how old they are.
  virtual std::vector<Address> CollectedOf(std::span<const Address>) { return {}; }
};

// A driver that gives consecutive addresses and refuses above its capacity.
class BumpDriver final : public DriverMemory {
 public:
  static constexpr Address kFirstAddress = Address{1} << 40;

  explicit BumpDriver(Bytes capacity = ~Bytes{0}) : capacity_(capacity) {}

  std::optional<Address> Allocate(Bytes size) override {
    return Map(next_, size) ? std::optional(Reserve(size)) : std::nullopt;
  }
  void Free(Address address, Bytes size) override { Unmap(address, size); }
  Address Reserve(Bytes size) override {
    return std::exchange(next_, next_ + RoundUp(size, kGranularity));
  }
  bool Map(Address, Bytes size) override {
    if (size > capacity_ - used_) return false;
    used_ += size;
    return true;
  }
  void Unmap(Address, Bytes size) override { used_ -= size; }

  Bytes used() const { return used_; }

 private:
  static constexpr Bytes kGranularity = Bytes{2} << 20;

  Bytes capacity_;
  Bytes used_ = 0;
  Address next_ = kFirstAddress;
};

}  // namespace graphkit
