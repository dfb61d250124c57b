// Makes of a trace and its report what the gate needs of both.
#pragma once

#include <string>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// `trace_file` is the trace's file, as the user named it.
GateSubject MakeGateSubject(std::string trace_file, const Trace& trace, Report report);

// Where a finding comes from: the stack of its evidence, or that of the first block, node, … that
// it names.
FindingPlace PlaceOf(const Finding& finding, const Trace& trace);

}  // namespace graphkit
