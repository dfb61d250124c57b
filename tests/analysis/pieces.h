// Pieces of the programs that tests make.
#pragma once

#include <string_view>

#include "tests/build_trace.h"

namespace graphkit {

struct TwoStreams {
  TraceBuilder t = TraceBuilder();
  StreamId a = t.Stream("a");
  StreamId b = t.Stream("b");
};

// A block that a kernel writes.
inline BlockId AllocWritten(TraceBuilder& t, StreamId stream, Bytes size,
                            std::string_view kernel = "write") {
  const BlockId block = t.Alloc(stream, size);
  t.Kernel(stream, kernel, {Writes(block)});
  return block;
}

// The same, freed right after.
inline BlockId AllocUsed(TraceBuilder& t, StreamId stream, Bytes size,
                         std::string_view kernel = "use") {
  const BlockId block = AllocWritten(t, stream, size, kernel);
  t.Free(block);
  return block;
}

}  // namespace graphkit
