// Page-locked memory that a captured copy reads, and that other transfers use between launches: a
// part of stale-host-memory.
//
//     capture: x ← m     [m goes back to its pool]     z ← m: another transfer     launch: x ← m
//
// By its calls, a program that refills its own memory and sends it twice looks the same. So a
// finding needs bytes that changed before the other transfer and stayed so until the launch
// (Trace::host_changes), and names both causes.
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/finding.h"

namespace graphkit {

std::vector<Finding> FindReusedStaging(const Facts& facts);

}  // namespace graphkit
