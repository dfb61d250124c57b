// Events that processes share.
#pragma once

#include "plugins/soft_cuda/model/stream.h"

namespace graphkit::soft::driver {

// For an event that processes share: the next record of a stream, and what waits for the last one.
void RecordShared(Stream* stream, Event* event);
Work WaitForShared(const Event& event);
// The event is destroyed.
void DropShared(const Event& event);

}  // namespace graphkit::soft::driver
