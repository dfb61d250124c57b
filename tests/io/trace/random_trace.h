// Random traces that use every kind of record, for round-trip tests.
#pragma once

#include <cstdint>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// About `steps` calls; the same for the same seed.
Trace RandomTrace(uint64_t seed, int steps);

}  // namespace graphkit
