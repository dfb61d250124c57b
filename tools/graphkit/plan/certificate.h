// A placement and its bound as JSON that others can check, schema "graphkit-certificate",
// version 1 (docs/certificate.md).
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/interval.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct CertifiedMemory {
  PlannedMemory placed;  // each arena with its `heaviest`
  Assumption assumes = Assumption::kArguments;
  std::string allocator = {};  // that placed the blocks; empty: the planner
  // Graphs in the same arenas, by their order of capture, several each: the arena's graph is the
  // first of them.
  std::vector<std::vector<GraphId>> captured = {};
  std::vector<Interval<Address>> lent = {};  // between launches, where the trace was recorded
};

// `trace`: the decompressed file.
void RenderCertificate(const CertifiedMemory& memory, std::string_view trace, std::ostream& out);

// Of the trace in that file.
Result<void> WriteCertificate(const CertifiedMemory& memory, const std::string& trace,
                              const std::string& output);

}  // namespace graphkit
