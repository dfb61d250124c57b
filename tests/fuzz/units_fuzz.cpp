// A size that parses prints as text that parses to a size close to it: three digits are printed.
#include <cstdlib>
#include <string_view>

#include "libgraphkit/units.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bytes = graphkit::ParseBytes(text);
  if (!bytes || *bytes > graphkit::Bytes{15} << 60) return 0;  // 16 EiB is out of range
  const auto again = graphkit::ParseBytes(graphkit::FormatBytes(*bytes));
  if (!again) std::abort();
  const graphkit::Bytes difference = *again > *bytes ? *again - *bytes : *bytes - *again;
  if (difference > *bytes / 200) std::abort();
  return 0;
}
