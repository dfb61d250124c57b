// Device memory: one reserved range of addresses that starts at a fixed place, committed by the
// kernel on touch. Addresses depend only on the sequence of calls. A second range serves
// page-locked host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

namespace graphkit::soft {

class Backing;

struct MemoryRange {
  uint64_t begin = 0;
  uint64_t size = 0;
};

class AddressSpace {
 public:
  // Reserves `bytes` at `wanted`, or elsewhere where that is taken. The memory behind them is the
  // backing's business; null: the host's alone.
  AddressSpace(uint64_t wanted, uint64_t bytes, Backing* backing);

  // First fit, at 512-byte granularity. 0 where the range is full.
  uint64_t Allocate(uint64_t bytes);
  bool Free(uint64_t address);  // false: not the begin of an allocation
  // The allocation that holds the address; size 0: none does.
  MemoryRange Find(uint64_t address) const;
  bool Contains(uint64_t address) const { return address >= begin_ && address < begin_ + size_; }
  uint64_t begin() const { return begin_; }
  uint64_t used() const { return used_; }

 private:
  void Commit(uint64_t end);
  void GiveBack(uint64_t begin, uint64_t size);

  Backing* backing_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t size_ = 0;
  uint64_t usable_ = 0;  // end of what may be touched
  uint64_t used_ = 0;
  std::map<uint64_t, uint64_t> free_;   // begin → size
  std::map<uint64_t, uint64_t> taken_;  // begin → size
};

}  // namespace graphkit::soft
