// Device memory of a trace's execs: measured, where the trace has usable readings, else
// by a model, corrected by the readings that there are.
#pragma once

#include <optional>
#include <vector>

#include "libgraphkit/model/exec_memory.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// `roots`: of each graph. Nothing: no exec was made.
std::optional<ExecMemory> FindExecMemory(const Ran& trace, const std::vector<GraphId>& roots);

// Most that the execs of each graph took at once; `execs` 0 where it has none.
std::vector<ExecPeak> ExecPeaks(const Ran& trace, const ExecMemory& memory);

// The parts of each exec, nodes inside of nodes too, as they were when it was made.
std::vector<ExecPartCounts> CountExecParts(const Ran& trace, const std::vector<GraphId>& roots);

// The parts of an exec of each graph at the end; of graphs inside of others nothing.
std::vector<ExecPartCounts> CountGraphParts(const Ran& trace, const std::vector<GraphId>& roots);

// The model that the trace's readings yield; the table where it has none.
ExecModel CalibratedExecModel(const Ran& trace, const std::vector<GraphId>& roots);

// The driver takes memory for execs in chunks: a reading of free memory is off by less than one.
inline constexpr Bytes kDriverChunk = Bytes{2} << 20;

// The model of published figures. `driver_version`: as cuDriverGetVersion; 0: unknown.
ExecModel PublishedExecModel(int driver_version);

}  // namespace graphkit
