// Writes trace files (docs/format.md).
#pragma once

#include <string>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Writes the trace to `path`; "-" is stdout; compressed when the path ends in ".zst". A file
// appears under its name only once it is whole. Every record stands at its place, so what is
// written reads back as the same trace. An error when two things in the trace claim one place.
Result<void> WriteTrace(const Trace& trace, const std::string& path);

// The same as a text.
Result<std::string> FormatTrace(const Trace& trace);

}  // namespace graphkit
