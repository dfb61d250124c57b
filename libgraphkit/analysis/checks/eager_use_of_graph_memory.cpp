// eager-use-of-graph-memory: memory that a graph's launches write, used outside of graphs by what
// was allocated there later, or without being allocated.
#include "libgraphkit/analysis/checks/overwritten.h"

namespace graphkit {
namespace {

constexpr char kOwnMemory[] =
    "allocate outside of the graph's pool what is used between launches (in PyTorch: no "
    "use_mem_pool with the pool of a graph)";

// The memory of a block that the graph's capture freed, and that isn't another's. To read what a
// launch left there may be meant: a program can keep the address of an output.
void DescribeLoose(const Trace& trace, const Overwrite& loose, Finding* finding) {
  const bool writes = loose.mode == AccessMode::kWrite || loose.mode == AccessMode::kReadWrite;
  finding->severity = writes ? Severity::kWarning : Severity::kNote;
  const char* does = writes                            ? " writes "
                     : loose.mode == AccessMode::kRead ? " reads "
                                                       : " may use ";
  finding->message = WorkText(trace, loose.after) + does + NameOf(trace, loose.own) +
                     " outside of graphs, which was freed in the capture of " +
                     NameOf(trace, loose.graph) + " and is written by its launches";
  finding->advice =
      "keep what is used after the capture (in PyTorch: hold a reference to the tensor until the "
      "capture has ended), or give it memory of its own";
}

}  // namespace

std::vector<Finding> FindEagerUsesOfGraphMemory(const Facts& facts) {
  const Trace& trace = facts.trace;
  return FindOverwritten(facts, [&](const Overwrite& found, Finding* finding) {
    if (!found.used.valid()) {
      DescribeLoose(trace, found, finding);
      return true;
    }
    if (trace[found.used].graph.valid()) return false;
    const std::string place = NameOf(trace, found.used) +
                              ", allocated outside of captures, lies where " +
                              NameOf(trace, found.graph) + " works: ";
    finding->advice = kOwnMemory;
    if (found.after == kNoUse) {
      finding->severity = Severity::kNote;
      finding->message = place + "it was launched while the block was there";
      return true;
    }
    const bool sure = found.mode != AccessMode::kUnknown;
    finding->severity = sure ? Severity::kError : Severity::kWarning;
    finding->message = place + NameOf(trace, found.node) + " writes over it, and " +
                       WorkText(trace, found.after) +
                       (sure ? " reads it afterwards" : " may read it afterwards");
    return true;
  });
}

}  // namespace graphkit
