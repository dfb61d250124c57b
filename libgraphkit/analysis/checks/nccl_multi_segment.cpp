// nccl-multi-segment: a buffer of a captured NCCL kernel that lies in several driver allocations.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// NCCL registers the buffers of captured kernels unless it is told not to.
Ternary RegistersBuffers(const Process& process) {
  if (process.environment.empty()) return Ternary::kUnknown;
  const bool off =
      std::ranges::find(process.environment, "NCCL_GRAPH_REGISTER=0") != process.environment.end();
  return off ? Ternary::kNo : Ternary::kYes;
}

class Segments {
 public:
  explicit Segments(const Trace& trace) : trace_(trace) {
    for (size_t i = 0; i < trace.segments.size(); ++i) by_address_.emplace_back(i);
    std::ranges::sort(by_address_, {}, [&](SegmentId id) { return trace_[id].address; });
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const PoolId pool = trace.blocks[i].pool;
      if (pool.valid() && trace[pool].kind == PoolKind::kDevice) driver_.emplace_back(i);
    }
    std::ranges::sort(driver_, {}, [&](BlockId id) { return trace_[id].address; });
  }

  // Over how many driver allocations a block spans: PyTorch's history has what it mapped at once as
  // one segment, whatever the number of them.
  size_t DriverSpanned(const Block& block, Seq at) const {
    size_t spanned = 0;
    for (const BlockId id : driver_) {
      const Block& memory = trace_[id];
      if (memory.address >= block.address + block.size) break;
      const Address end = memory.address + memory.size;
      const bool holds_all = memory.address <= block.address && end >= block.address + block.size;
      if (holds_all || end <= block.address) continue;
      if (memory.allocated <= at && at < memory.free_completed) ++spanned;
    }
    return spanned;
  }

  // Over how many segments a block spans at a place of the trace.
  size_t Spanned(const Block& block, Seq at) const {
    auto id = std::ranges::lower_bound(by_address_, block.address, {},
                                       [&](SegmentId at) { return trace_[at].address; });
    size_t spanned = 0;
    for (; id != by_address_.end(); ++id) {
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
  std::vector<BlockId> driver_;  // what the driver was asked for, by address
};

void Describe(const Trace& trace, Ternary registers, Finding* finding) {
  finding->severity = registers == Ternary::kYes ? Severity::kError : Severity::kWarning;
  finding->assumes = Assumption::kArguments;
  finding->message = BlocksText(*finding) + ", which " + NameOf(trace, finding->nodes.front()) +
                     " of " + NameOf(trace, finding->graph) + " exchanges, " +
                     (finding->blocks.size() == 1 ? "lies" : "lie") +
                     " in several driver allocations, and NCCL " +
                     (registers == Ternary::kYes ? "registers" : "may register") +
                     " what it finds in graphs as if it was one";
  finding->advice =
      "set NCCL_GRAPH_REGISTER=0, or turn expandable segments off for what is communicated";
}

}  // namespace

std::vector<Finding> FindNcclMultiSegments(const Facts& facts) {
  const Trace& trace = facts.trace;
  const Ternary registers = RegistersBuffers(trace.process);
  if (registers == Ternary::kNo || trace.segments.empty()) return {};
  const KernelSet& communicates = facts.communication();
  if (communicates.empty()) return {};
  const Segments segments(trace);
  std::vector<Finding> by_graph(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (!communicates.Has(node.kernel)) continue;
    Finding& finding = by_graph[facts.roots()[node.graph.index()].index()];
    for (const Access& access : trace.accesses.Of(node.accesses)) {
      const BlockId id = access.block;
      const size_t spanned = std::max(segments.Spanned(trace[id], node.seq),
                                      segments.DriverSpanned(trace[id], node.seq));
      if (spanned < 2 || !AddOnce(id, &finding.blocks)) continue;
      finding.nodes.emplace_back(i);
      finding.bytes += RoundedSize(trace[id]);
      finding.evidence.push_back(
          {.text = NameOf(trace, id) + " spans " + std::to_string(spanned) + " segments",
           .nodes = {NodeId(i)},
           .blocks = {id},
           .stack = trace[id].stack});
    }
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    *finding = std::move(by_graph[graph.index()]);
    finding->graph = graph;
    if (!finding->blocks.empty()) Describe(trace, registers, finding);
  });
}

}  // namespace graphkit
