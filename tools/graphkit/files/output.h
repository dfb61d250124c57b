// Where data goes: a file that appears whole or not at all, or stdout.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "libgraphkit/result.h"

namespace graphkit {

// Calls `write` with a stream and puts what it wrote at `path`; "-" is stdout. A file is written
// beside its place and renamed when it is whole, so that a reader never sees half of it. Pipes and
// devices are written to directly.
Result<void> WriteOutput(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace graphkit
