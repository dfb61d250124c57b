// The tracer's lines on stderr. `graphkit trace` is told them too, by the socket that
// GRAPHKIT_TRACE_TELL names: the program's stderr may lead elsewhere.
#pragma once

#include <string_view>

namespace graphkit {

// Reads the environment; before the first Say, while nobody changes it.
void PrepareToSay();

void Say(std::string_view text);

}  // namespace graphkit
