// Any bytes give a trace or an error; and a trace that could be read can be written, and reads back
// as itself.
#include <cstdlib>
#include <string_view>

#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = graphkit::ParseTrace(text, "fuzz");
  if (!trace) return 0;
  const auto written = graphkit::FormatTrace(*trace);
  if (!written) std::abort();
  const auto again = graphkit::ParseTrace(*written, "fuzz");
  if (!again) std::abort();
  const auto rewritten = graphkit::FormatTrace(*again);
  if (!rewritten || *rewritten != *written) std::abort();
  return 0;
}
