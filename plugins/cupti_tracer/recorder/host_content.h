// Page-locked memory of the host that captured copies read: its bytes are compared with those of
// the last look, and a record says where they changed. The tracer looks when such a copy is
// captured, at each launch of it, where other work reads the memory, and at the first wait of the
// host after other work wrote it.
//
//     capture (reads m) ─ [fill m] ─ copy z ← m ─ launch ─ [fill m] ─ launch
//     look: first          changed: record      the same        changed: record
//
// Reads the bytes through the system (process_vm_readv), as other threads may free the memory
// meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/recorder/memory.h"

namespace graphkit {

class HostContent {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr Bytes kMostBytes = 8192;       // of a copy: its first ones
  static constexpr Bytes kMostAtOnce = 65536;     // in one look
  static constexpr size_t kMostRanges = 64;       // the same
  static constexpr size_t kMostWatched = 100000;  // copies, by address and length
  static constexpr uint32_t kMostCalm = 100;      // launches, since other work used the memory

  HostContent(Records& records, const Memory& memory) : records_(records), memory_(memory) {}

  // A captured copy: what it reads is watched from now on. Returns its number; kNone: it reads no
  // page-locked memory.
  uint32_t Watch(const Operation& copy);
  // A launch of copies with these numbers.
  void OnLaunch(std::span<const uint32_t> watched);
  // Other work; and when the host waited, for whatever.
  void OnWork(const Operation& work);
  void OnHostWait();

 private:
  struct Watched {
    Address address = 0;
    Bytes length = 0;
    BlockId block;  // that was there at the last look; none: it couldn't be read
    uint64_t content = 0;
    uint32_t calm = 0;  // launches with a look, since other work used it
  };
  void Look(std::span<const uint32_t> watched);
  template <typename Visit>
  void ForEachIn(const TouchedMemory& touch, Visit visit) const;

  Records& records_;
  const Memory& memory_;
  std::vector<Watched> watched_;
  std::map<std::pair<Address, Bytes>, uint32_t> numbers_;
  std::vector<uint32_t> written_;  // by work, since the host last waited
  std::vector<char> bytes_;
  bool refused_ = false;  // by the system
};

}  // namespace graphkit
