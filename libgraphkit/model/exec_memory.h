// Device memory of execs beyond the program's allocations: driver memory that no allocator
// counts. docs/memory.md says where the figures come from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

// A figure and the interval that it is said to lie in.
struct ByteRange {
  Bytes low = 0;
  Bytes bytes = 0;
  Bytes high = 0;
  auto operator<=>(const ByteRange&) const = default;

  ByteRange& operator+=(const ByteRange& other) {
    low += other.low;
    bytes += other.bytes;
    high += other.high;
    return *this;
  }
};
constexpr ByteRange operator*(uint64_t count, const ByteRange& range) {
  return {count * range.low, count * range.bytes, count * range.high};
}

// Where a figure of an exec comes from, the least certain first.
enum class ExecSource : uint8_t {
  kEstimated,   // by the table of analysis/memory/exec_memory.cpp
  kCalibrated,  // by that table, corrected by what was measured of other execs
  kMeasured,    // free memory before and after, of this exec and those like it
};

// The parts that the model counts: the exec itself, and its nodes by kind.
enum class ExecPart : uint8_t { kExec, kKernel, kCopy, kOther };
inline constexpr size_t kExecParts = 4;
using ExecPartCounts = std::array<uint64_t, kExecParts>;

// Bytes of one of each.
struct ExecModel {
  std::array<ByteRange, kExecParts> parts{};
  uint64_t measured_execs = 0;  // that it was corrected by; 0: the table
  bool operator==(const ExecModel&) const = default;

  ByteRange Of(const ExecPartCounts& counts) const {
    ByteRange sum;
    for (size_t i = 0; i < kExecParts; ++i) sum += counts[i] * parts[i];
    return sum;
  }
};

struct ExecCost {
  ExecId exec;
  GraphId graph;
  ExecSource source = ExecSource::kEstimated;
  ByteRange bytes = {};
  Bytes measured_least = 0;  // kMeasured: of this one and those like it, the least and the most
  Bytes measured_most = 0;
  uint64_t measured_alike = 0;  // so many
  bool operator==(const ExecCost&) const = default;
};

// Most that execs took at once.
struct ExecPeak {
  ByteRange bytes;
  uint64_t execs = 0;
  Seq at = 0;
  bool operator==(const ExecPeak&) const = default;
};

struct ExecMemory {
  std::vector<ExecCost> execs = {};  // by exec
  ExecPeak peak = {};
  ExecSource source = ExecSource::kMeasured;  // the least certain of them
  ExecModel model = {};
  uint64_t readings = 0;
  uint64_t disturbed_readings = 0;  // not used
  bool operator==(const ExecMemory&) const = default;
};

}  // namespace graphkit
