// The first line of a trace file.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/model/process.h"
#include "libgraphkit/result.h"

namespace graphkit {

inline constexpr unsigned kTraceVersion = 1;

// The line, with its line feed.
std::string TraceHeader(DeviceKind device);

// The device that a first line (without its line feed) names; an error when it isn't the header of
// a trace, or that of another version.
Result<DeviceKind> ParseTraceHeader(std::string_view line);

}  // namespace graphkit
