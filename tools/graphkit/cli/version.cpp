#include "tools/graphkit/cli/version.h"

#include "tools/graphkit/doctor/cuda_probe.h"

namespace graphkit {

namespace {

constexpr int kTraceFormat = 1;  // docs/format.md

}  // namespace

std::string Version() { return GRAPHKIT_VERSION; }

std::string VersionText() {
  std::string text = "graphkit " + Version() + "\ntrace format " + std::to_string(kTraceFormat);
  const ProbedLibrary cupti = FindCupti();
  if (cupti.path.empty()) return text;
  return text + "\nCUPTI " + CuptiVersionText(cupti.version) + " (" + cupti.path + ")";
}

}  // namespace graphkit
