// What a memory snapshot says that its trace has no place for.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

// An allocation that failed for lack of memory.
struct OutOfMemoryEvent {
  uint64_t event = 0;
  Seq seq = 0;
  int16_t device = 0;
  Bytes asked = 0;
  Bytes free_on_device = 0;
  bool operator==(const OutOfMemoryEvent&) const = default;
};

struct SnapshotInfo {
  uint64_t devices = 0;
  // The place in the trace of each event, those of device 0 first: events count in a device.
  std::vector<std::vector<Seq>> events = {};
  Seq first_event = 0;  // what was there before it was allocated before recording began
  std::vector<OutOfMemoryEvent> out_of_memory = {};
  bool operator==(const SnapshotInfo&) const = default;

  uint64_t event_count() const {
    uint64_t count = 0;
    for (const auto& of_device : events) count += of_device.size();
    return count;
  }
};

}  // namespace graphkit
