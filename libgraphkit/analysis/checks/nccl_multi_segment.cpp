// nccl-multi-segment: a buffer of a captured NCCL kernel that lies in several driver allocations.
#include <algorithm>
#include <string_view>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/kernel_names.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {
namespace {

enum class Registers : uint8_t { kYes, kUnknown, kNo };

// NCCL registers the buffers of captured kernels unless it is told not to.
Registers RegistersBuffers(const Process& process) {
  if (process.environment.empty()) return Registers::kUnknown;
  for (const std::string_view variable : process.environment) {
    if (variable == "NCCL_GRAPH_REGISTER=0") return Registers::kNo;
  }
  return Registers::kYes;
}

class Segments {
 public:
  explicit Segments(const Trace& trace) : trace_(trace) {
    for (size_t i = 0; i < trace.segments.size(); ++i) by_address_.emplace_back(i);
    std::sort(by_address_.begin(), by_address_.end(),
              [&](SegmentId a, SegmentId b) { return trace_[a].address < trace_[b].address; });
  }

  // Over how many segments a block spans at a place of the trace.
  size_t Spanned(const Block& block, Seq at) const {
    const auto first = std::lower_bound(
        by_address_.begin(), by_address_.end(), block.address,
        [&](SegmentId id, Address address) { return trace_[id].address < address; });
    size_t spanned = 0;
    for (auto id = first; id != by_address_.end(); ++id) {
      if (trace_[*id].address >= block.address + block.size) break;
      if (trace_[*id].allocated <= at && at < trace_[*id].freed) ++spanned;
    }
    if (block.segment.index() < trace_.segments.size() &&
        trace_[block.segment].address < block.address) {
      ++spanned;
    }
    return spanned;
  }

 private:
  const Trace& trace_;
  std::vector<SegmentId> by_address_;
};

void Describe(const Trace& trace, Registers registers, Finding* finding) {
  finding->severity = registers == Registers::kYes ? Severity::kError : Severity::kWarning;
  finding->assumes = Assumption::kArguments;
  finding->message = ListOf(finding->blocks) + " (" + FormatBytes(finding->bytes) + "), which " +
                     NameOf(trace, finding->nodes.front()) + " of " +
                     NameOf(trace, finding->graph) + " exchanges, " +
                     (finding->blocks.size() == 1 ? "lies" : "lie") +
                     " in several driver allocations, and NCCL " +
                     (registers == Registers::kYes ? "registers" : "may register") +
                     " what it finds in graphs as if it was one";
  finding->advice =
      "set NCCL_GRAPH_REGISTER=0, or turn expandable segments off for what is communicated";
}

}  // namespace

std::vector<Finding> FindNcclMultiSegments(const Facts& facts) {
  const Trace& trace = facts.trace;
  const Registers registers = RegistersBuffers(trace.process);
  if (registers == Registers::kNo || trace.segments.size() < 2) return {};
  const std::vector<bool> communicates = CommunicationKernels(trace);
  if (std::find(communicates.begin(), communicates.end(), true) == communicates.end()) return {};
  const Segments segments(trace);
  std::vector<Finding> by_graph(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.kernel.index() >= communicates.size() || !communicates[node.kernel.index()]) continue;
    Finding& finding = by_graph[facts.roots[node.graph.index()].index()];
    for (uint32_t a = node.accesses.first; a < node.accesses.first + node.accesses.count; ++a) {
      const BlockId id = trace.accesses[a].block;
      const size_t spanned = segments.Spanned(trace[id], node.seq);
      const bool known =
          std::find(finding.blocks.begin(), finding.blocks.end(), id) != finding.blocks.end();
      if (spanned < 2 || known) continue;
      finding.graph = facts.roots[node.graph.index()];
      finding.blocks.push_back(id);
      finding.nodes.emplace_back(i);
      finding.bytes += RoundedSize(trace[id]);
      finding.evidence.push_back(
          {.text = NameOf(trace, id) + " spans " + std::to_string(spanned) + " segments",
           .nodes = {NodeId(i)},
           .blocks = {id},
           .stack = trace[id].stack});
    }
  }
  std::vector<Finding> findings;
  for (Finding& finding : by_graph) {
    if (finding.blocks.empty()) continue;
    Describe(trace, registers, &finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
