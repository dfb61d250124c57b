// The tracer's lines on stderr. `graphkit trace` is told them too, by the socket that
// GRAPHKIT_TRACE_TELL names: the program's stderr may lead elsewhere.
#pragma once

#include <string_view>

namespace graphkit {

// Reads the environment; before the first Say, while no thread changes it.
void PrepareToSay();

void Say(std::string_view text);

// To `graphkit trace` alone: the process initialised CUDA, and there was nothing to record.
inline constexpr std::string_view kNothingToRecord = "nothing to record";
void Tell(std::string_view text);

}  // namespace graphkit
