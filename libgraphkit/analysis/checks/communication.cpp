// Checks of communication between ranks.
#include <array>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches/collectives.h"

namespace graphkit {
namespace {

bool IsSet(const Process& process, const char* setting) {
  return std::ranges::find(process.environment, setting) != process.environment.end();
}

// Operations of a graph that may run at once, and how many such pairs there are: they stand in an
// order that its edges allow, so that they are ordered where each is with the one before it. Of one
// communicator, or of several.
struct UnorderedOperations {
  NodeId first, second;
  uint64_t pairs = 0;
};

UnorderedOperations FindUnordered(const Facts& facts, const RankProgram& program, bool several) {
  const Ran& trace = facts.trace;
  UnorderedOperations found;
  std::map<CommunicatorId, RankOperation> last;
  for (const RankOperation& operation : program.operations) {
    const CommunicatorId own = operation.what.communicator;
    const auto [at, is_new] = last.try_emplace(several ? CommunicatorId() : own, operation);
    const RankOperation before = std::exchange(at->second, operation);
    if (is_new || before.node == operation.node ||
        facts.order().Before(before.node, operation.node))
      continue;
    if (several && before.what.communicator == own) continue;
    if (ExclusiveBodies(trace, facts.nesting(), trace[before.node].graph,
                        trace[operation.node].graph) != 0)
      continue;
    if (found.pairs++ == 0) found.first = before.node, found.second = operation.node;
  }
  return found;
}

void AddBoth(const Ran& trace, const UnorderedOperations& both, Finding* finding) {
  finding->nodes = {both.first, both.second};
  finding->evidence = {CapturedThere(trace, both.first), CapturedThere(trace, both.second)};
}

// The first node of each root graph that uses a communicator which was destroyed.
std::map<std::pair<GraphId, CommunicatorId>, NodeId> FindUsers(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::map<std::pair<GraphId, CommunicatorId>, NodeId> users;
  for (const Collective& collective : trace.collectives) {
    if (trace[collective.communicator].destroyed == kNever) continue;
    const NodeId node = NodeAt(trace, collective.seq);
    if (!node.valid() || !trace.graph_nodes.Has(node)) continue;
    users.try_emplace({facts.RootOf(node), collective.communicator}, node);
  }
  return users;
}

// True if the graph, or an exec that ran it last, is there at a place of the trace.
bool IsThere(const Ran& trace, GraphId graph, Seq at) {
  const auto lives = [at](const auto& thing) { return thing.created < at && thing.destroyed > at; };
  if (lives(trace[graph])) return true;
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    if (lives(trace.execs[i]) && trace.GraphBefore(ExecId(i), at).graph == graph) return true;
  }
  return false;
}

// Operations that may not run at once: those on one communicator, or any.
struct Rule {
  const char* setting;
  bool all = false;
};

struct CollectiveFinder {
  std::vector<Finding> Find() {
    if (collectives.programs.empty()) return {};
    FindInGraphs();
    FindLaunches();
    return std::move(found);
  }

  // Operations of several communicators; those of one are collective-order's.
  void FindInGraphs() {
    if (!rule.all) return;
    for (const RankProgram& program : collectives.programs) {
      if (!program.graph) continue;
      const UnorderedOperations both = FindUnordered(facts, program, true);
      if (both.pairs == 0) continue;
      AddBoth(trace, both,
              &Add(program.graph,
                   Say(trace, "{} and {} of {}", both.first, both.second, program.graph)));
    }
  }

  // Launches in their order: ordered where each is with the one before it on the communicator.
  void FindLaunches() {
    std::map<GraphId, std::vector<CommunicatorId>> uses;
    for (const RankProgram& program : collectives.programs) {
      for (const RankOperation& operation : program.operations)
        AddOnce(rule.all ? CommunicatorId(0u) : operation.what.communicator, &uses[program.graph]);
    }
    const LaunchOrder& order = facts.launch_order();
    std::map<CommunicatorId, std::pair<uint32_t, GraphId>> last;
    std::set<std::pair<GraphId, GraphId>> told;
    for (uint32_t i = 0; i < trace.launches.size(); ++i) {
      const GraphId graph = facts.ran()[i];
      if (!graph || !uses.contains(graph)) continue;
      for (const CommunicatorId communicator : uses[graph]) {
        const auto [at, is_new] = last.try_emplace(communicator, i, graph);
        const auto [before, other] = at->second;
        at->second = {i, graph};
        if (is_new || order.Before(before, i) || !told.emplace(other, graph).second) continue;
        Finding& finding =
            Add(graph, LaunchText(trace, before, other) + " and " + LaunchText(trace, i, graph));
        finding.evidence = {LaunchedThere(trace, before, other), LaunchedThere(trace, i, graph)};
        if (order.BeforeByThreads(before, i)) DoubtThreads(&finding);
        finding.streams = {trace.launches[before].stream, trace.launches[i].stream};
      }
    }
  }

  Finding& Add(GraphId graph, const std::string& both) {
    Finding& finding = found.emplace_back(Finding{.severity = Severity::kError, .graph = graph});
    finding.message = Say(trace, "{} may run operations{} at once, which {} doesn't allow", both,
                          rule.all ? " of NCCL" : " on one communicator", rule.setting);
    finding.advice = "launch them on one stream, order them by an event, or leave that setting out";
    return finding;
  }

  const Facts& facts;
  const Rule rule;
  const Ran& trace = facts.trace;
  const RankCollectives& collectives = facts.collectives();
  std::vector<Finding> found = {};
};

// Memory from the driver, by its addresses: while it was there. PyTorch's history has what it
// mapped at once as one segment, whatever the number of driver allocations: these count as well.
using DriverPieces = std::array<RangeIndex<Interval<Seq>>, 2>;  // segments; driver allocations

DriverPieces PiecesOf(const Ran& trace) {
  DriverPieces pieces;
  for (const Segment& at : trace.segments) pieces[0].Add(AddressesOf(at), {at.allocated, at.freed});
  for (const Block& at : trace.blocks) {
    if (at.pool.valid() && trace[at.pool].kind == PoolKind::kDevice)
      pieces[1].Add(AddressesOf(at), {at.allocated, at.free_completed});
  }
  for (auto& of_kind : pieces) of_kind.Sort();
  return pieces;
}

// Over how many pieces of one kind a block spans at a place of the trace.
size_t Spanned(const DriverPieces& pieces, const Block& block, Seq at) {
  const Interval<Address> own = AddressesOf(block);
  std::array<size_t, 2> spanned = {};
  for (size_t kind = 0; kind < pieces.size(); ++kind) {
    pieces[kind].Visit(own, [&](Interval<Address> piece, Interval<Seq> there) {
      spanned[kind] += Common(piece, own) != own && there.contains(at);
    });
  }
  return std::ranges::max(spanned);
}

struct Lender {
  std::vector<Finding> FindLoans() {
    if (communicates.empty()) return {};
    std::vector<std::vector<BlockId>> buffers(trace.graphs.size());
    is_buffer.assign(trace.blocks.size(), false);
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const GraphId graph = OnlyGraph(BlockId(i));
      if (graph.valid()) buffers[graph.index()].emplace_back(i);
      is_buffer[i] = graph.valid();
    }
    return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
      Lend(graph, buffers[graph.index()], finding);
    });
  }

  // The one graph whose nodes touch a buffer of communication that its allocator can't hand to
  // computation: it lives outside the graph, or in a pool of its own.
  GraphId OnlyGraph(BlockId id) const {
    GraphId graph;
    bool exchanged = false;
    for (const NodeId touch : facts.lives().Touches(id)) {
      const Node& node = trace[touch];
      const GraphId root = facts.RootOf(touch);
      if (node.graph != root || (graph.valid() && graph != root)) return {};
      graph = root;
      exchanged = exchanged || communicates.Has(node.kernel);
    }
    return exchanged ? graph : GraphId();
  }

  // Blocks that the buffer could hold: each use of the buffer is over before the block begins, or
  // begins when the block is over, and what comes after the block doesn't need what was there.
  bool Holds(BlockId buffer, BlockId block) const {
    const Block& from = trace[buffer];
    const Block& to = trace[block];
    if (from.pool == to.pool && facts.lives()[buffer].root.valid()) return false;
    if (RoundedSize(to) > RoundedSize(from) || facts.lives()[block].escaped) return false;
    const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
    std::vector<NodeId> later;
    for (const NodeId use : facts.lives().Touches(buffer)) {
      if (facts.order().Before(use, facts.lives()[block].alloc)) continue;
      if (!order.Dies(block)) return false;
      if (!order.DiesBefore(block, facts.order().StartOf(use))) return false;
      later.push_back(use);
    }
    return later.empty() || FillsFirst(buffer, later);
  }

  // True if the first of some uses writes the whole buffer, before all others.
  bool FillsFirst(BlockId buffer, std::span<const NodeId> uses) const {
    const NodeId first = uses.front();
    return std::ranges::all_of(uses, [&](NodeId use) {
      return use == first ? Fills(first, buffer) : facts.order().Before(first, use);
    });
  }

  bool Fills(NodeId node, BlockId buffer) const {
    const Interval<Bytes> all{0, trace[buffer].size};
    return std::ranges::all_of(trace.accesses.Of(trace[node].accesses), [&](const Access& at) {
      const bool whole = BytesOf(at, all.end) == all && at.rows.width == 0;
      return at.block != buffer || (at.mode == AccessMode::kWrite && whole);
    });
  }

  // Each buffer is lent to the largest block that it can hold and that hasn't borrowed another one.
  void Lend(GraphId graph, const std::vector<BlockId>& buffers, Finding* finding) const {
    std::vector<BlockId> borrowers;
    for (const BlockId buffer : buffers) {
      const BlockId best = BestBorrower(buffer, facts.blocks()[graph.index()], borrowers);
      if (!best.valid()) continue;
      borrowers.push_back(best);
      finding->blocks.push_back(buffer);
      finding->bytes += RoundedSize(trace[best]);
      if (finding->evidence.size() >= kShownEvidence) continue;
      AddEvidence(finding,
                  Say(trace, "{} could lie in {} while nothing is exchanged", best, buffer),
                  trace[best].stack, {}, {best, buffer});
    }
    if (finding->blocks.empty()) return;
    finding->assumes = Assumption::kArguments;
    finding->message =
        Say(trace, "{} of {} could lie in communication buffers that are idle then: {}",
            FormatBytes(finding->bytes), graph, ListOf(finding->blocks));
    finding->advice =
        "let computation borrow the buffers outside the exchange, or allocate them "
        "from the same pool around it";
  }

  BlockId BestBorrower(BlockId buffer, const std::vector<BlockId>& blocks,
                       const std::vector<BlockId>& borrowers) const {
    BlockId best;
    for (const BlockId block : blocks) {
      if (is_buffer[block.index()] || trace[block].size == 0) continue;
      if (best.valid() && RoundedSize(trace[block]) <= RoundedSize(trace[best])) continue;
      const bool has = std::ranges::find(borrowers, block) != borrowers.end();
      if (!has && Holds(buffer, block)) best = block;
    }
    return best;
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const KernelSet& communicates = facts.communication();
  std::vector<bool> is_buffer = {};  // by block
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
    const UnorderedOperations both = FindUnordered(facts, program, false);
    if (both.pairs == 0) continue;
    Finding& finding =
        findings.emplace_back(Finding{.severity = Severity::kError, .graph = program.graph});
    AddBoth(facts.trace, both, &finding);
    finding.message = Say(
        facts.trace, "{} and {} of {} are operations on one communicator, and no edge orders them",
        both.first, both.second, program.graph);
    if (both.pairs > 1) finding.message += "; the same of " + Counted(both.pairs - 1, "more pair");
    finding.advice =
        "order them by an event, or leave NCCL_GRAPH_STREAM_ORDERING at 1, so that NCCL does";
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
  const Ran& trace = facts.trace;
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
                                 Counted(trace[communicator].ranks, "rank"));
    finding.message = Say(
        trace, "{} was destroyed before {}, whose {} uses it: NCCL waits for the graph's end there",
        what, graph, node);
    if (after > 0) {
      finding.severity = Severity::kError;
      finding.message = Say(trace, "{} was launched {} after {} was destroyed, which {} uses",
                            graph, Counted(after, "time"), what, node);
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
    if (IsSet(facts.trace.process, rule.setting)) return CollectiveFinder{facts, rule}.Find();
  }
  return {};
}

// nccl-multi-segment: a buffer of a captured NCCL kernel that lies in several driver allocations.
std::vector<Finding> FindNcclMultiSegments(const Facts& facts) {
  const Ran& trace = facts.trace;
  // NCCL registers the buffers of captured kernels unless it is told not to.
  if (IsSet(trace.process, "NCCL_GRAPH_REGISTER=0") || trace.segments.empty()) return {};
  const bool registers = !trace.process.environment.empty();
  const KernelSet& communicates = facts.communication();
  if (communicates.empty()) return {};
  const DriverPieces pieces = PiecesOf(trace);
  std::vector<Finding> by_graph(trace.graphs.size());
  for (const NodeId at : trace.graph_nodes) {
    const Node& node = trace[at];
    if (!communicates.Has(node.kernel)) continue;
    Finding& finding = by_graph[facts.RootOf(at).index()];
    for (const Access& access : trace.accesses.Of(node.accesses)) {
      const BlockId id = access.block;
      const size_t spanned = Spanned(pieces, trace[id], node.seq);
      if (spanned < 2 || !AddBlockOnce(trace, id, &finding)) continue;
      finding.nodes.push_back(at);
      AddEvidence(&finding, NameOf(trace, id) + " spans " + std::to_string(spanned) + " segments",
                  trace[id].stack, {at}, {id});
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
std::vector<Finding> FindIdleCommBuffers(const Facts& facts) { return Lender{facts}.FindLoans(); }

}  // namespace graphkit
