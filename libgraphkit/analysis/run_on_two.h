// Does several things on two threads, each taking the next one when it is done.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// A thread costs more than looking at a small trace.
bool IsSmall(const Trace& trace);

// `alone`: on this thread only. The tasks must not need each other; the longest should come first.
void RunOnTwo(bool alone, const std::vector<std::function<void()>>& tasks);

}  // namespace graphkit
