// Device memory of a trace's execs: measured, where the trace has usable readings, else
// by a model, corrected by the readings that there are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// `roots`: of each graph. Nothing: no exec was made.
std::optional<ExecMemory> FindExecMemory(const Trace& trace, const std::vector<GraphId>& roots);

// Most that the execs of each graph took at once; `execs` 0 where it has none.
std::vector<ExecPeak> ExecPeaks(const Trace& trace, const ExecMemory& memory);

// The parts of each exec, nodes inside of nodes too, as they were when it was made.
std::vector<ExecPartCounts> CountExecParts(const Trace& trace, const std::vector<GraphId>& roots);

// The parts of an exec of each graph at the end; of graphs inside of others nothing.
std::vector<ExecPartCounts> CountGraphParts(const Trace& trace, const std::vector<GraphId>& roots);

// The model that the trace's readings yield; the table where it has none.
ExecModel CalibratedExecModel(const Trace& trace, const std::vector<GraphId>& roots);

// Memory of an exec by its nodes: a table of published figures, and its correction by those that a
// trace measured.

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
