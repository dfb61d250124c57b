// Checks of communication between ranks.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

bool IsSet(const Process& process, const char* setting) {
  return std::ranges::find(process.environment, setting) != process.environment.end();
}

// Operations of a graph stand in an order that its edges allow: they are ordered where each is with
// the one before it.
Finding FindUnordered(const Facts& facts, const RankProgram& program) {
  const Trace& trace = facts.trace;
  Finding finding{.severity = Severity::kError, .graph = program.graph};
  std::map<CommunicatorId, NodeId> last;
  uint64_t pairs = 0;
  for (const RankOperation& operation : program.operations) {
    const auto [at, is_new] = last.try_emplace(operation.what.communicator, operation.node);
    const NodeId before = at->second;
    at->second = operation.node;
    if (is_new || before == operation.node || facts.order().Before(before, operation.node))
      continue;
    if (ExclusiveBodies(trace, trace[before].graph, trace[operation.node].graph) != 0) continue;
    if (pairs++ > 0) continue;
    finding.nodes = {before, operation.node};
    finding.evidence = {CapturedThere(trace, before), CapturedThere(trace, operation.node)};
    finding.message =
        Say(trace, "{} and {} of {} are operations on one communicator, and no edge orders them",
            before, operation.node, program.graph);
  }
  if (pairs > 1) finding.message += "; the same of " + Count(pairs - 1, "more pair");
  finding.advice =
      "order them by an event, or leave NCCL_GRAPH_STREAM_ORDERING at 1, so that NCCL does";
  return finding;
}

// The first node of each root graph that uses a communicator which was destroyed.
std::map<std::pair<GraphId, CommunicatorId>, NodeId> FindUsers(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::map<std::pair<GraphId, CommunicatorId>, NodeId> users;
  for (const Collective& collective : trace.collectives) {
    if (trace[collective.communicator].destroyed == kNever) continue;
    const NodeId node = NodeAt(trace, collective.seq);
    if (!node.valid() || !InGraph(trace, trace[node])) continue;
    users.try_emplace({facts.RootOf(node), collective.communicator}, node);
  }
  return users;
}

// True if the graph, or an exec that ran it last, is there at a place of the trace.
bool IsThere(const Trace& trace, GraphId graph, Seq at) {
  const auto lives = [at](const auto& thing) { return thing.created < at && thing.destroyed > at; };
  if (lives(trace[graph])) return true;
  std::map<ExecId, GraphId> updated;
  for (const ExecUpdate& update : trace.exec_updates) {
    if (update.result == 0 && update.seq < at) updated[update.exec] = update.graph;
  }
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    const auto now = updated.find(ExecId(i));
    const GraphId runs = now == updated.end() ? trace.execs[i].graph : now->second;
    if (runs == graph && lives(trace.execs[i])) return true;
  }
  return false;
}

// Operations that may not run at once: those on one communicator, or any.
struct Rule {
  const char* setting;
  bool all = false;
};

class CollectiveFinder {
 public:
  CollectiveFinder(const Facts& facts, const Rule& rule)
      : facts_(facts), trace_(facts.trace), rule_(rule), collectives_(facts.collectives()) {}

  std::vector<Finding> Find() {
    if (collectives_.programs.empty()) return {};
    FindInGraphs();
    FindLaunches();
    return std::move(found_);
  }

 private:
  // Operations of several communicators; those of one are collective-order's.
  void FindInGraphs() {
    if (!rule_.all) return;
    for (const RankProgram& program : collectives_.programs) {
      if (!program.graph) continue;
      for (size_t i = 1; i < program.operations.size(); ++i) {
        const RankOperation &a = program.operations[i - 1], &b = program.operations[i];
        if (a.what.communicator == b.what.communicator || a.node == b.node) continue;
        if (facts_.order().Before(a.node, b.node)) continue;
        if (ExclusiveBodies(trace_, trace_[a.node].graph, trace_[b.node].graph) != 0) continue;
        Finding& finding =
            Add(program.graph, Say(trace_, "{} and {} of {}", a.node, b.node, program.graph));
        finding.nodes = {a.node, b.node};
        finding.evidence = {CapturedThere(trace_, a.node), CapturedThere(trace_, b.node)};
        break;
      }
    }
  }

  // Launches in their order: ordered where each is with the one before it on the communicator.
  void FindLaunches() {
    std::map<GraphId, std::vector<CommunicatorId>> uses;
    for (const RankProgram& program : collectives_.programs) {
      for (const RankOperation& operation : program.operations) {
        AddOnce(rule_.all ? CommunicatorId(0u) : operation.what.communicator, &uses[program.graph]);
      }
    }
    const LaunchOrder& order = facts_.launch_order();
    std::map<CommunicatorId, std::pair<uint32_t, GraphId>> last;
    std::set<std::pair<GraphId, GraphId>> told;
    for (uint32_t i = 0; i < trace_.launches.size(); ++i) {
      const GraphId graph = facts_.ran()[i];
      if (!graph || !uses.contains(graph)) continue;
      for (const CommunicatorId communicator : uses[graph]) {
        const auto [at, is_new] = last.try_emplace(communicator, i, graph);
        const auto [before, other] = at->second;
        at->second = {i, graph};
        if (is_new || order.Before(before, i) || !told.emplace(other, graph).second) continue;
        Finding& finding =
            Add(graph, LaunchText(trace_, before, other) + " and " + LaunchText(trace_, i, graph));
        if (order.BeforeByThreads(before, i)) DoubtThreads(&finding);
        finding.streams = {trace_.launches[before].stream, trace_.launches[i].stream};
      }
    }
  }

  Finding& Add(GraphId graph, const std::string& both) {
    Finding& finding = found_.emplace_back(Finding{.severity = Severity::kError, .graph = graph});
    finding.message = Say(trace_, "{} may run operations{} at once, which {} doesn't allow", both,
                          rule_.all ? " of NCCL" : " on one communicator", rule_.setting);
    finding.advice = "launch them on one stream, order them by an event, or leave that setting out";
    return finding;
  }

  const Facts& facts_;
  const Trace& trace_;
  const Rule rule_;
  const RankCollectives& collectives_;
  std::vector<Finding> found_;
};

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

class Lender {
 public:
  explicit Lender(const Facts& facts)
      : facts_(facts), trace_(facts.trace), communicates_(facts.communication()) {}

  std::vector<Finding> FindLoans() {
    if (communicates_.empty()) return {};
    std::vector<std::vector<BlockId>> buffers(trace_.graphs.size());
    buffer_.assign(trace_.blocks.size(), false);
    for (size_t i = 0; i < trace_.blocks.size(); ++i) {
      const GraphId graph = OnlyGraph(BlockId(i));
      if (graph.valid()) buffers[graph.index()].emplace_back(i);
      buffer_[i] = graph.valid();
    }
    return FindByGraph(facts_, [&](GraphId graph, Finding* finding) {
      Lend(graph, buffers[graph.index()], finding);
    });
  }

 private:
  // The one graph whose nodes touch a buffer of communication that its allocator can't hand to
  // computation: it lives outside the graph, or in a pool of its own.
  GraphId OnlyGraph(BlockId id) const {
    GraphId graph;
    bool exchanged = false;
    for (const Touch& touch : facts_.lives().Touches(id)) {
      const Node& node = trace_[touch.node];
      const GraphId root = facts_.roots()[node.graph.index()];
      if (node.graph != root || (graph.valid() && graph != root)) return {};
      graph = root;
      exchanged = exchanged || communicates_.Has(node.kernel);
    }
    return exchanged ? graph : GraphId();
  }

  // Blocks that the buffer could hold: each use of the buffer is over before the block begins, or
  // begins when the block is over, and what comes after the block doesn't need what was there.
  bool Holds(BlockId buffer, BlockId block) const {
    const Block& from = trace_[buffer];
    const Block& to = trace_[block];
    if (from.pool == to.pool && facts_.lives()[buffer].root.valid()) return false;
    if (RoundedSize(to) > RoundedSize(from) || facts_.lives()[block].escaped) return false;
    const BlockOrder order = facts_.Blocks(MarkerRule::kLastUse);
    std::vector<Touch> later;
    for (const Touch& use : facts_.lives().Touches(buffer)) {
      if (facts_.order().Before(use.node, facts_.lives()[block].alloc)) continue;
      if (!order.Dies(block)) return false;
      if (!order.DiesBefore(block, facts_.order().StartOf(use.node))) return false;
      later.push_back(use);
    }
    return later.empty() || FillsFirst(buffer, later);
  }

  // True if the first of some uses writes the whole buffer, before all others.
  bool FillsFirst(BlockId buffer, std::span<const Touch> uses) const {
    const NodeId first = uses.front().node;
    return std::ranges::all_of(uses, [&](const Touch& use) {
      if (use.node != first) return facts_.order().Before(first, use.node);
      return Fills(first, buffer);
    });
  }

  bool Fills(NodeId node, BlockId buffer) const {
    const Bytes size = trace_[buffer].size;
    return std::ranges::all_of(trace_.accesses.Of(trace_[node].accesses), [&](const Access& at) {
      const bool whole = at.length == kLengthUnknown || at.length >= size;
      return at.block != buffer ||
             (at.mode == AccessMode::kWrite && at.offset == 0 && whole && at.rows.width == 0);
    });
  }

  // Each buffer is lent to the largest block that it can hold and that hasn't borrowed another one.
  void Lend(GraphId graph, const std::vector<BlockId>& buffers, Finding* finding) const {
    std::vector<BlockId> borrowers;
    for (const BlockId buffer : buffers) {
      const BlockId best = BestBorrower(buffer, facts_.blocks()[graph.index()], borrowers);
      if (!best.valid()) continue;
      borrowers.push_back(best);
      finding->blocks.push_back(buffer);
      finding->bytes += RoundedSize(trace_[best]);
      if (finding->evidence.size() >= kShownEvidence) continue;
      AddEvidence(finding,
                  Say(trace_, "{} could lie in {} while nothing is exchanged", best, buffer),
                  trace_[best].stack, {}, {best, buffer});
    }
    if (finding->blocks.empty()) return;
    finding->assumes = Assumption::kArguments;
    finding->message =
        Say(trace_, "{} of {} could lie in communication buffers that are idle then: {}",
            FormatBytes(finding->bytes), graph, ListOf(finding->blocks));
    finding->advice =
        "let computation borrow the buffers outside the exchange, or allocate them "
        "from the same pool around it";
  }

  BlockId BestBorrower(BlockId buffer, const std::vector<BlockId>& blocks,
                       const std::vector<BlockId>& borrowers) const {
    BlockId best;
    for (const BlockId block : blocks) {
      if (buffer_[block.index()] || trace_[block].size == 0) continue;
      if (best.valid() && RoundedSize(trace_[block]) <= RoundedSize(trace_[best])) continue;
      const bool has = std::ranges::find(borrowers, block) != borrowers.end();
      if (!has && Holds(buffer, block)) best = block;
    }
    return best;
  }

  const Facts& facts_;
  const Trace& trace_;
  const KernelSet& communicates_;
  std::vector<bool> buffer_;  // by block
};

}  // namespace

// collective-order: operations on one communicator that nothing orders in a graph, and ranks of one
// process that don't run theirs in one order. The ranks of many traces: launches/collectives.h.
std::vector<Finding> FindCollectiveOrders(const Facts& facts) {
  const RankCollectives& collectives = facts.collectives();
  if (collectives.programs.empty()) return {};
  std::vector<Finding> findings = CompareOwnRanks(collectives, "collective-order");
  for (const RankProgram& program : collectives.programs) {
    if (!program.graph || facts.never_run()[program.graph.index()]) continue;
    Finding finding = FindUnordered(facts, program);
    if (!finding.message.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

// collective-size: ranks of one process that run an operation with another count, type or root. The
// ranks of many traces: launches/collectives.h.
std::vector<Finding> FindCollectiveSizes(const Facts& facts) {
  return CompareOwnRanks(facts.collectives(), "collective-size");
}

// comm-destroyed: a communicator that was destroyed while a graph that uses it was still there, or
// was even launched again.
std::vector<Finding> FindDestroyedComms(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<Finding> findings;
  for (const auto& [user, node] : FindUsers(facts)) {
    const auto [graph, communicator] = user;
    const Seq end = trace[communicator].destroyed;
    uint64_t after = 0;
    for (const uint32_t launch : facts.launches()[graph.index()])
      after += trace.launches[launch].seq > end;
    if (after == 0 && !IsThere(trace, graph, end)) continue;
    Finding& finding = findings.emplace_back(Finding{.graph = graph, .nodes = {node}});
    finding.evidence = {CapturedThere(trace, node)};
    const std::string what = Say(trace, "communicator {} of {}", communicator.value,
                                 Count(trace[communicator].ranks, "rank"));
    finding.message = Say(
        trace, "{} was destroyed before {}, whose {} uses it: NCCL waits for the graph's end there",
        what, graph, node);
    if (after > 0) {
      finding.severity = Severity::kError;
      finding.message = Say(trace, "{} was launched {} after {} was destroyed, which {} uses",
                            graph, Count(after, "time"), what, node);
    }
    finding.advice =
        "destroy graphs and their execs before the communicators that they use: in "
        "PyTorch, reset() or delete each CUDAGraph before destroy_process_group()";
  }
  return findings;
}

// concurrent-collectives: NCCL operations that may run at once, where its own order was switched
// off: NCCL_GRAPH_MIXING_SUPPORT=0, of graphs that use one communicator, and
// NCCL_GRAPH_STREAM_ORDERING=0, of all communicators.
std::vector<Finding> FindConcurrentCollectives(const Facts& facts) {
  if (facts.trace.collectives.empty()) return {};
  for (const Rule& rule :
       {Rule{"NCCL_GRAPH_STREAM_ORDERING=0", true}, Rule{"NCCL_GRAPH_MIXING_SUPPORT=0"}}) {
    if (IsSet(facts.trace.process, rule.setting)) return CollectiveFinder(facts, rule).Find();
  }
  return {};
}

// nccl-multi-segment: a buffer of a captured NCCL kernel that lies in several driver allocations.
std::vector<Finding> FindNcclMultiSegments(const Facts& facts) {
  const Trace& trace = facts.trace;
  // NCCL registers the buffers of captured kernels unless it is told not to.
  if (IsSet(trace.process, "NCCL_GRAPH_REGISTER=0") || trace.segments.empty()) return {};
  const bool registers = !trace.process.environment.empty();
  const KernelSet& communicates = facts.communication();
  if (communicates.empty()) return {};
  const Segments segments(trace);
  std::vector<Finding> by_graph(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (!communicates.Has(node.kernel)) continue;
    Finding& finding = by_graph[facts.RootOf(NodeId(i)).index()];
    for (const Access& access : trace.accesses.Of(node.accesses)) {
      const BlockId id = access.block;
      const size_t spanned = std::max(segments.Spanned(trace[id], node.seq),
                                      segments.DriverSpanned(trace[id], node.seq));
      if (spanned < 2 || !AddBlockOnce(trace, id, &finding)) continue;
      finding.nodes.emplace_back(i);
      AddEvidence(&finding, NameOf(trace, id) + " spans " + std::to_string(spanned) + " segments",
                  trace[id].stack, {NodeId(i)}, {id});
    }
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    *finding = std::move(by_graph[graph.index()]);
    finding->graph = graph;
    if (finding->blocks.empty()) return;
    finding->severity = registers ? Severity::kError : Severity::kWarning;
    finding->assumes = Assumption::kArguments;
    finding->message =
        Say(trace,
            "{}, which {} of {} exchanges, {} in several driver allocations, and "
            "NCCL {} what it finds in graphs as if it was one",
            BlocksText(*finding), finding->nodes.front(), graph,
            finding->blocks.size() == 1 ? "lies" : "lie", registers ? "registers" : "may register");
    finding->advice =
        "set NCCL_GRAPH_REGISTER=0, or turn expandable segments off for what is communicated";
  });
}

// comm-buffer-idle: memory of communication that computation could borrow while nothing is
// exchanged.
std::vector<Finding> FindIdleCommBuffers(const Facts& facts) { return Lender(facts).FindLoans(); }

}  // namespace graphkit
