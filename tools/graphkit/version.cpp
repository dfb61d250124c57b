#include "tools/graphkit/version.h"

namespace graphkit {

namespace {

constexpr int kTraceFormat = 1;  // docs/format.md

}  // namespace

std::string VersionText() {
  return "graphkit " GRAPHKIT_VERSION "\ntrace format " + std::to_string(kTraceFormat);
}

}  // namespace graphkit
