// pageable-host-copy: captured copies of memory of the host that isn't page-locked: each replay
// finds what is at the address by then.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

using Copies = std::vector<const HostCopy*>;

// Two copies of a graph that read the same memory: as captured, the program may have filled it anew
// in between; in a replay both read what it holds then. Null: there are none.
std::optional<std::pair<const HostCopy*, const HostCopy*>> FindReread(Copies copies) {
  std::erase_if(copies, [](const HostCopy* copy) { return copy->end.mode != AccessMode::kRead; });
  std::ranges::stable_sort(copies, {}, [](const HostCopy* copy) { return copy->end.address; });
  for (size_t i = 1; i < copies.size(); ++i) {
    const HostCopy &before = *copies[i - 1], &copy = *copies[i];
    if (before.node == copy.node || before.end.length == kLengthUnknown) continue;
    if (copy.end.address < before.end.address + before.end.length)
      return std::pair(copies[i - 1], copies[i]);
  }
  return std::nullopt;
}

Finding Judge(const Facts& facts, GraphId graph, const Copies& copies) {
  const Trace& trace = facts.trace;
  Finding finding{.severity = Severity::kNote, .graph = graph};
  for (const HostCopy* copy : copies) {
    AddOnce(copy->node, &finding.nodes);
    if (copy->end.length != kLengthUnknown) finding.bytes += copy->end.length;
  }
  finding.message = NameOf(trace, graph) + " copies pageable memory of the host (" +
                    FormatBytes(finding.bytes) + " in " + Count(finding.nodes.size(), "node") +
                    "): each launch uses the address that was captured";
  finding.advice =
      "capture copies of page-locked memory (cudaMallocHost) that lives as long as the graph, or "
      "copy outside of it";
  const auto reread = FindReread(copies);
  if (reread) {
    finding.severity = Severity::kWarning;
    finding.message += "; two of them read the same memory, and get the same contents";
    finding.evidence = {CopyEvidence(trace, *reread->first), CopyEvidence(trace, *reread->second)};
    return finding;
  }
  for (const HostCopy* copy : copies) {
    if (finding.evidence.size() < kShownEvidence)
      finding.evidence.push_back(CopyEvidence(trace, *copy));
  }
  return finding;
}

}  // namespace

std::vector<Finding> FindPageableHostCopies(const Facts& facts) {
  const std::vector<HostCopy>& copies = facts.host_copies();
  if (copies.empty()) return {};
  const std::vector<bool>& never = facts.never_run();
  std::map<GraphId, Copies> by_graph;
  for (const HostCopy& copy : copies) {
    const GraphId graph = facts.RootOf(copy.node);
    const bool lasts = copy.end.kind == HostMemoryKind::kProgram;
    if (!lasts && !never[graph.index()]) by_graph[graph].push_back(&copy);
  }
  std::vector<Finding> findings;
  for (const auto& [graph, of_graph] : by_graph) findings.push_back(Judge(facts, graph, of_graph));
  return findings;
}

}  // namespace graphkit
