#include "libgraphkit/model/trace.h"

#include "libgraphkit/units.h"

namespace graphkit {

std::vector<std::string> IncompleteBecause(const Completeness& completeness) {
  std::vector<std::string> because;
  if (completeness.truncated) {
    because.emplace_back("it ends early (the program was killed, or the file was cut)");
  }
  if (completeness.dropped_records > 0) {
    because.push_back("the tracer dropped " + FormatCount(completeness.dropped_records) +
                      " records");
  }
  because.insert(because.end(), completeness.notes.begin(), completeness.notes.end());
  because.insert(because.end(), completeness.unapplied.begin(), completeness.unapplied.end());
  return because;
}

}  // namespace graphkit
