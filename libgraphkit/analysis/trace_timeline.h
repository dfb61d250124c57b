// A trace laid out over time, for viewers: streams as tracks, captured nodes and launches as slices
// on them, edges as flows, memory as counters.
//
// A capture has no running times. So time is, by choice, the place in the trace (1 µs a record:
// order, not measurement) or the host's clock at the call, where it was recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class TimeAxis : uint8_t { kOrder, kHost };

// Something that a viewer shows with a slice.
struct TimelineArg {
  std::string_view key;
  std::variant<uint64_t, std::string> value;
  bool operator==(const TimelineArg&) const = default;
};

struct TimelineSlice {
  uint32_t track = 0;
  Nanoseconds begin = 0;
  Nanoseconds length = 0;  // at least 1
  std::string name;
  std::string_view category = "node";  // "node", "launch"
  std::vector<TimelineArg> args = {};
  std::vector<EdgeId> out = {}, in = {};  // flows that start and end here
  bool operator==(const TimelineSlice&) const = default;
};

struct TimelineSample {
  Nanoseconds time = 0;
  int64_t bytes = 0;
  bool operator==(const TimelineSample&) const = default;
};

struct TimelineCounter {
  std::string name;  // "pool 0 allocator: live"
  std::vector<TimelineSample> samples = {};
  bool operator==(const TimelineCounter&) const = default;
};

struct Timeline {
  std::string process;
  int64_t pid = 0;
  std::vector<std::string> tracks = {};    // names
  std::vector<TimelineSlice> slices = {};  // by begin; those of one track don't overlap
  std::vector<TimelineCounter> counters = {};
  bool operator==(const Timeline&) const = default;
};

Timeline MakeTimeline(const Trace& trace, TimeAxis axis);

}  // namespace graphkit
