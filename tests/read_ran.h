// What ran of a trace in a file.
#pragma once

#include <string>

#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/ran/resolve.h"

namespace graphkit {

inline Result<Ran> ReadRan(const std::string& path) {
  Result<Trace> trace = ReadTrace(path);
  if (!trace) return trace.error();
  return Resolve(std::move(*trace));
}

}  // namespace graphkit
