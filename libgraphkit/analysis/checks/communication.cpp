// Checks of communication between ranks.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

namespace {

// collective-order: operations on one communicator that nothing orders in a graph, and ranks of one
// process that don't run theirs in one order. The ranks of many traces: launches/collectives.h.

// Operations of a graph stand in an order that its edges allow: they are ordered where each is with
// the one before it.
Finding FindUnordered(const Facts& facts, const RankProgram& program) {
  const Trace& trace = facts.trace;
  Finding finding;
  finding.severity = Severity::kError;
  finding.graph = program.graph;
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
    finding.message = NameOf(trace, before) + " and " + NameOf(trace, operation.node) + " of " +
                      NameOf(trace, program.graph) +
                      " are operations on one communicator, and no edge orders them";
  }
  if (pairs > 1) finding.message += "; the same of " + Count(pairs - 1, "more pair");
  finding.advice =
      "order them by an event, or leave NCCL_GRAPH_STREAM_ORDERING at 1, so that NCCL does";
  return finding;
}

// comm-destroyed: a communicator that was destroyed while a graph that uses it was still there, or
// was even launched again.

// The first node of each root graph that uses a communicator which was destroyed.
std::map<std::pair<GraphId, CommunicatorId>, NodeId> FindUsers(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::map<std::pair<GraphId, CommunicatorId>, NodeId> users;
  for (const Collective& collective : trace.collectives) {
    if (trace[collective.communicator].destroyed == kNever) continue;
    const auto node = std::ranges::lower_bound(trace.nodes, collective.seq, {}, &Node::seq);
    if (node == trace.nodes.end() || node->seq != collective.seq || !InGraph(trace, *node)) {
      continue;
    }
    const GraphId root = facts.roots()[node->graph.index()];
    users.try_emplace({root, collective.communicator},
                      static_cast<size_t>(node - trace.nodes.begin()));
  }
  return users;
}

class Judge {
 public:
  explicit Judge(const Facts& facts) : trace_(facts.trace), launches_(facts.launches()) {}

  Finding Of(GraphId graph, CommunicatorId communicator, NodeId node) const {
    Finding finding;
    const Seq end = trace_[communicator].destroyed;
    const auto after = std::ranges::count_if(launches_[graph.index()], [&](uint32_t launch) {
      return trace_.launches[launch].seq > end;
    });
    const bool there = IsThere(graph, end);
    if (after == 0 && !there) return finding;
    finding.graph = graph;
    finding.nodes = {node};
    finding.evidence = {CapturedThere(trace_, node)};
    const std::string what = "communicator " + std::to_string(communicator.value) + " of " +
                             Count(trace_[communicator].ranks, "rank");
    if (after > 0) {
      finding.severity = Severity::kError;
      finding.message = Say(trace_, "{} was launched {} after {} was destroyed, which {} uses",
                            graph, Count(static_cast<uint64_t>(after), "time"), what, node);
    } else {
      finding.severity = Severity::kWarning;
      finding.message = what + " was destroyed before " + NameOf(trace_, graph) + ", whose " +
                        NameOf(trace_, node) + " uses it: NCCL waits for the graph's end there";
    }
    finding.advice =
        "destroy graphs and their execs before the communicators that they use: in "
        "PyTorch, reset() or delete each CUDAGraph before destroy_process_group()";
    return finding;
  }

 private:
  // True if the graph, or an exec that ran it last, is there at a place of the trace.
  bool IsThere(GraphId graph, Seq at) const {
    const auto lives = [at](const auto& thing) {
      return thing.created < at && thing.destroyed > at;
    };
    if (lives(trace_[graph])) return true;
    std::map<ExecId, GraphId> updated;
    for (const ExecUpdate& update : trace_.exec_updates) {
      if (update.result == 0 && update.seq < at) updated[update.exec] = update.graph;
    }
    for (size_t i = 0; i < trace_.execs.size(); ++i) {
      const auto now = updated.find(ExecId(i));
      const GraphId runs = now == updated.end() ? trace_.execs[i].graph : now->second;
      if (runs == graph && lives(trace_.execs[i])) return true;
    }
    return false;
  }

  const Trace& trace_;
  const std::vector<std::vector<uint32_t>>& launches_;
};

// concurrent-collectives: NCCL operations that may run at once, where its own order was switched
// off: NCCL_GRAPH_MIXING_SUPPORT=0, of graphs that use one communicator, and
// NCCL_GRAPH_STREAM_ORDERING=0, of all communicators.

// Operations that may not run at once: those on one communicator, or any.
struct Rule {
  const char* setting;
  bool all = false;
};

std::optional<Rule> RuleOf(const Process& process) {
  const auto has = [&](const char* setting) {
    return std::ranges::find(process.environment, setting) != process.environment.end();
  };
  if (has("NCCL_GRAPH_STREAM_ORDERING=0")) return Rule{"NCCL_GRAPH_STREAM_ORDERING=0", true};
  if (has("NCCL_GRAPH_MIXING_SUPPORT=0")) return Rule{"NCCL_GRAPH_MIXING_SUPPORT=0"};
  return std::nullopt;
}

class Finder {
 public:
  Finder(const Facts& facts, const Rule& rule)
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
    std::map<std::pair<GraphId, GraphId>, bool> told;
    for (uint32_t i = 0; i < trace_.launches.size(); ++i) {
      const GraphId graph = facts_.ran()[i];
      if (!graph || !uses.contains(graph)) continue;
      for (const CommunicatorId communicator : uses[graph]) {
        const auto [at, is_new] = last.try_emplace(communicator, i, graph);
        const auto [before, other] = at->second;
        at->second = {i, graph};
        if (is_new || order.Before(before, i) ||
            !told.emplace(std::pair(other, graph), true).second)
          continue;
        Finding& finding =
            Add(graph, LaunchText(trace_, before, other) + " and " + LaunchText(trace_, i, graph));
        if (order.BeforeByThreads(before, i)) DoubtThreads(&finding);
        finding.streams = {trace_.launches[before].stream, trace_.launches[i].stream};
      }
    }
  }

  Finding& Add(GraphId graph, const std::string& both) {
    Finding& finding = found_.emplace_back();
    finding.severity = Severity::kError;
    finding.graph = graph;
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

// nccl-multi-segment: a buffer of a captured NCCL kernel that lies in several driver allocations.

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

// comm-buffer-idle: memory of communication that computation could borrow while nothing is
// exchanged.

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
    const auto touches = facts_.lives().Touches(id);
    GraphId graph;
    bool exchanged = false;
    for (const Touch& touch : touches) {
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
    return std::ranges::all_of(
        trace_.accesses.Of(trace_[node].accesses), [&](const Access& access) {
          const bool whole =
              access.length == kLengthUnknown || access.length >= trace_[buffer].size;
          const bool fills = access.mode == AccessMode::kWrite && access.offset == 0 && whole &&
                             access.rows.width == 0;
          return access.block != buffer || fills;
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
      finding->evidence.push_back({.text = NameOf(trace_, best) + " could lie in " +
                                           NameOf(trace_, buffer) + " while nothing is exchanged",
                                   .blocks = {best, buffer},
                                   .stack = trace_[best].stack});
    }
    if (finding->blocks.empty()) return;
    finding->assumes = Assumption::kArguments;
    finding->message =
        FormatBytes(finding->bytes) + " of " + NameOf(trace_, graph) +
        " could lie in communication buffers that are idle then: " + ListOf(finding->blocks);
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

std::vector<Finding> FindCollectiveOrders(const Facts& facts) {
  const RankCollectives& collectives = facts.collectives();
  if (collectives.programs.empty()) return {};
  std::vector<Finding> findings = CompareOwnRanks(collectives, "collective-order");
  const std::vector<bool>& never_run = facts.never_run();
  for (const RankProgram& program : collectives.programs) {
    if (!program.graph || never_run[program.graph.index()]) continue;
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

std::vector<Finding> FindDestroyedComms(const Facts& facts) {
  const auto users = FindUsers(facts);
  std::vector<Finding> findings;
  if (users.empty()) return findings;
  const Judge judge(facts);
  for (const auto& [user, node] : users) {
    Finding finding = judge.Of(user.first, user.second, node);
    if (!finding.message.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindConcurrentCollectives(const Facts& facts) {
  const std::optional<Rule> rule = RuleOf(facts.trace.process);
  if (!rule || facts.trace.collectives.empty()) return {};
  return Finder(facts, *rule).Find();
}

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
      AddEvidence(&finding, NameOf(trace, id) + " spans " + std::to_string(spanned) + " segments",
                  trace[id].stack, {NodeId(i)}, {id});
    }
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    *finding = std::move(by_graph[graph.index()]);
    finding->graph = graph;
    if (!finding->blocks.empty()) Describe(trace, registers, finding);
  });
}

std::vector<Finding> FindIdleCommBuffers(const Facts& facts) { return Lender(facts).FindLoans(); }

}  // namespace graphkit
