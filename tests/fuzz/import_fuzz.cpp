// Any bytes, read as the format that GRAPHKIT_FORMAT names, give a trace or an error; and the trace
// can be written, and reads back as itself.
#include <cstdlib>
#include <string>
#include <string_view>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const graphkit::FileFormat* format = graphkit::FindFormat(GRAPHKIT_FORMAT);
  if (!format) std::abort();
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.reserve(size + graphkit::kReadPadding);
  const auto imported = format->read(bytes);
  if (!imported) return 0;
  const auto written = graphkit::FormatTrace(imported->trace);
  if (!written) std::abort();
  const auto again = graphkit::ParseTrace(*written, "fuzz");
  if (!again) std::abort();
  const auto rewritten = graphkit::FormatTrace(*again);
  if (!rewritten || *rewritten != *written) std::abort();
  return 0;
}
