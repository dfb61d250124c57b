// Executes jobs on the host, with no device at all: the executor that tests compare the validators
// with. Nodes start and end one by one, in a legal order that a device would hardly ever take: what
// isn't ordered after a node that is held back happens before it. A node that writes checks that no
// other one needs what lies there any more.
#pragma once

#include "tools/graphkit/replay/execute.h"

namespace graphkit {

// The same options give the same result.
Executor HostExecutor();

// The placements of a replay, without segments, executed in so many orders.
bool ExecutesClean(const Facts& facts, const PolicyReplay& replay, uint32_t orders);

}  // namespace graphkit
