// The physical memory behind the addresses of graph allocation nodes. An address is fixed when its
// node is made; pages come to it when a launch needs them, and stay with the device's graphs until
// cudaDeviceGraphMemTrim takes back what no graph uses.
//
//   used   = pages behind addresses (of a launch that runs, of an allocation that is live)
//            + idle pages, each of the stream whose work used them last
//   a launch takes idle pages of its own stream; another stream's only where that work is over
//
// Sources: the Programming Guide on the physical memory of graph memory nodes, and NVIDIA's
// graphMemoryFootprint sample, whose texts say what the attribute shows. Who maps rounds an exec's
// bytes up to the driver's steps.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace graphkit::soft {

class GraphPages {
 public:
  bool IsMapped(uint64_t address) const { return mapped_.contains(address); }
  // Bytes of idle pages that a launch in the stream may take at a time of the host.
  uint64_t Takeable(uint64_t stream, uint64_t now_ns) const;
  // Puts pages behind an address that has none, for work in the stream.
  void Map(uint64_t address, uint64_t bytes, uint64_t stream, uint64_t now_ns);
  // Nothing uses the pages behind the address after `at_ns`, in the order of the stream; 0: the
  // host's.
  void Unmap(uint64_t address, uint64_t stream, uint64_t at_ns);
  void Trim(uint64_t now_ns);  // gives back what is idle by then

  uint64_t used() const { return used_; }
  uint64_t used_high = 0;      // since it was last set
  uint64_t reserved_high = 0;  // the same: no page is reserved that isn't used

 private:
  struct Idle {
    uint64_t bytes = 0;
    uint64_t since_ns = 0;
  };

  uint64_t TakeFrom(Idle& idle, uint64_t bytes);

  uint64_t used_ = 0;
  std::unordered_map<uint64_t, uint64_t> mapped_;  // address → bytes
  std::unordered_map<uint64_t, Idle> idle_;        // by stream
};

}  // namespace graphkit::soft
