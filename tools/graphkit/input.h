// Reading what the user named.
#pragma once

#include <string>

#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Reads a trace, or another tool's file as one, and says so on stderr when it takes long. An
// incomplete trace is a value: what is made of it ends with kExitIncomplete.
Result<Trace> ReadInput(const std::string& path);

// One warning on stderr for a trace that is incomplete; gives the exit code that goes with it.
int WarnIncomplete(const Trace& trace, const std::string& path);

}  // namespace graphkit
