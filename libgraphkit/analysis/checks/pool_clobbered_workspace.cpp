// pool-clobbered-workspace: memory that was allocated in a capture and kept, used outside of
// graphs, and written over by launches of graphs that use the same memory for something else.
#include "libgraphkit/analysis/checks/overwritten.h"

namespace graphkit {

std::vector<Finding> FindPoolClobberedWorkspaces(const Facts& facts) {
  const Trace& trace = facts.trace;
  return FindOverwritten(facts, [&](const Overwrite& found, Finding* finding) {
    if (!found.used.valid() || !trace[found.used].graph.valid()) return false;
    const bool sure = found.mode != AccessMode::kUnknown;
    finding->severity = sure ? Severity::kError : Severity::kWarning;
    finding->message = NameOf(trace, found.used) + ", allocated in the capture of " +
                       NameOf(trace, trace[found.used].graph) +
                       " and used outside of graphs, is written over by launches of " +
                       NameOf(trace, found.graph) + " (" + NameOf(trace, found.node) + " writes " +
                       NameOf(trace, found.own) + "); " + WorkText(trace, found.after) +
                       (sure ? " reads it afterwards" : " may read it afterwards");
    finding->advice =
        "allocate before the capture what is used outside of graphs too (a cached workspace: by "
        "one call before the capture), or read what a graph leaves before the next launch";
    return true;
  });
}

}  // namespace graphkit
