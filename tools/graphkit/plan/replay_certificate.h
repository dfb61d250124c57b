// Where an allocator placed the blocks of a trace, as a certificate (docs/certificate.md).
#pragma once

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/plan/certificate.h"

namespace graphkit {

// By the segment rules, of a policy that sees one malloc after the other. `shares`: graphs that
// were captured into the same pools share memory.
CertifiedMemory CertifyReplay(const Facts& facts, const PolicyReplay& replay, bool shares);

}  // namespace graphkit
