// Memory of an exec by its nodes: a table of published figures, and its correction by those that a
// trace measured.
#pragma once

#include <span>

#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/graph.h"

namespace graphkit {

// The driver takes memory for execs in chunks: a reading of free memory is off by less than one.
inline constexpr Bytes kDriverChunk = Bytes{2} << 20;

ExecPart PartOf(NodeKind kind);

// The table. `driver_version`: as cuDriverGetVersion; 0: unknown.
ExecModel PublishedExecModel(int driver_version);

// Execs whose parts are equal, and what readings say that they took together.
struct MeasuredExecs {
  ExecPartCounts counts{};
  uint64_t execs = 0;
  Bytes sum = 0;
  Bytes least = 0;
  Bytes most = 0;

  // Of one of them. Readings are multiples of a chunk; where in its chunk each begins is chance, so
  // that the error of the sum grows as the root of their number.
  ByteRange each() const;
};

// Linear least squares over the groups, each weighted by its error, with the table as one more
// observation. What the groups don't tell stays as the table has it.
ExecModel Calibrate(const ExecModel& table, std::span<const MeasuredExecs> groups);

}  // namespace graphkit
