#include "libgraphkit/io/trace/trace_header.h"

#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

constexpr std::string_view kBegin = R"({"schema":"graphkit-trace","version":)";
constexpr std::string_view kDevice = R"(,"device":")";
constexpr std::string_view kEnd = R"(","records":[)";

bool Skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Error NotATrace() {
  return {.message = "not a graphkit trace",
          .hint = "the first line should be " + std::string(kBegin) +
                  R"(1,"device":…,"records":[; files of other tools: graphkit import)",
          .line = 1};
}

}  // namespace

std::string TraceHeader(DeviceKind device) {
  return std::string(kBegin) + std::to_string(kTraceVersion) + std::string(kDevice) +
         std::string(NameOf(device)) + std::string(kEnd) + "\n";
}

Result<DeviceKind> ParseTraceHeader(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!Skip(line, kBegin)) return NotATrace();
  const size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return NotATrace();
  const std::string_view version = line.substr(0, digits);
  if (version != std::to_string(kTraceVersion)) {
    return Error{.message = "is a trace of version " + std::string(version.substr(0, 20)) +
                            ", and this graphkit reads version " + std::to_string(kTraceVersion),
                 .hint = "use the graphkit that recorded it, or a later one",
                 .line = 1};
  }
  line.remove_prefix(digits);
  if (!Skip(line, kDevice) || !line.ends_with(kEnd)) return NotATrace();
  line.remove_suffix(kEnd.size());
  for (size_t i = 0; i < Names<DeviceKind>::value.size(); ++i) {
    if (line == Names<DeviceKind>::value[i]) return static_cast<DeviceKind>(i);
  }
  return Error{.message = "has device \"" + std::string(line.substr(0, 40)) + "\"",
               .hint = "it should be cuda, soft or imported",
               .line = 1};
}

}  // namespace graphkit
