#include "libgraphkit/model/finding.h"

namespace graphkit {

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "unknown";
}

const char* AssumptionName(Assumption assumption) {
  switch (assumption) {
    case Assumption::kOrder:
      return "order";
    case Assumption::kTorchStreams:
      return "torch-streams";
    case Assumption::kArguments:
      return "arguments";
  }
  return "unknown";
}

}  // namespace graphkit
