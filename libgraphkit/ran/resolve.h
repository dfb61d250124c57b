// Makes of a trace what ran of it (ran.h).
#pragma once

#include <cstddef>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// A trace in which nothing was changed keeps its columns as they are. What can't be told goes to
// completeness.unapplied.
Ran Resolve(Trace trace);

// The trace as it was recorded, which is what files hold.
Trace AsRecorded(Ran trace);

// Where graphs ran in several versions (CountVersions), shows the one of this number alone, or the
// last one of a graph that has fewer.
void ShowVersion(size_t number, Ran* trace);

}  // namespace graphkit
