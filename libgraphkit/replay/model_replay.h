// What an allocator model (libgraphkit/alloc/models/allocator_model.h) would make of a trace: each
// pool of each graph has a model of its own, which is told of every malloc, use on another stream
// and free in capture order. Nothing runs while a graph is captured, so nothing is ever
// synchronised.
#pragma once

#include "libgraphkit/alloc/models/allocator_model.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// The placements are judged by the order at the free; the peak of reserved bytes is the model's.
PolicyReplay ReplayModel(const Facts& facts, ModelKind kind, const ReplayOptions& options = {});

}  // namespace graphkit
