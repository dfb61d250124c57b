// Checks of order: nodes that touch the same memory and that nothing orders, and what takes order
// away.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/frontier.h"

namespace graphkit {
namespace {

// "node 7 (Reduce), captured on stream 1, writes block 4 (12 MiB)".
std::string UseText(const Ran& trace, NodeId node, BlockId block) {
  bool reads = false, writes = false;
  for (const Access& access : trace.accesses.Of(trace[node].accesses)) {
    if (access.block != block) continue;
    reads |= access.mode == AccessMode::kRead || access.mode == AccessMode::kReadWrite;
    writes |= access.mode == AccessMode::kWrite || access.mode == AccessMode::kReadWrite;
  }
  const char* does = reads && writes ? "reads and writes"
                     : writes        ? "writes"
                     : reads         ? "reads"
                                     : "may read or write";
  if (trace[block].alloc_node == node) does = "allocates";
  if (trace[block].free_node == node) does = "frees";
  const bool captured = trace[node].stream.valid();
  const std::string from = captured ? "captured on " + NameOf(trace, trace[node].stream)
                                    : "added to " + NameOf(trace, trace[node].graph);
  return Say(trace, "{}, {}, {} {}", node, from, does, block);
}

// One finding for each pair of kernels that races, however often, since what races once mostly
// races in every layer.
struct RaceFindings {
  // Of two kernels of a graph. `describe` fills in message and advice where it is the first race.
  template <typename Describe>
  void Add(const Race& race, Severity severity, Describe describe) {
    const Node &earlier = facts.trace[race.earlier], &later = facts.trace[race.later];
    AddTo({facts.RootOf(race.earlier), severity, earlier.kernel, later.kernel}, race, describe);
  }

  using Site = std::tuple<GraphId, Severity, KernelId, KernelId>;
  template <typename Describe>
  void AddTo(const Site& site, const Race& race, Describe describe) {
    Finding& finding = by_site[site];
    if (finding.blocks.empty()) describe(&finding);
    finding.graph = facts.RootOf(race.earlier);
    AddBlockOnce(facts.trace, race.block, &finding);
    for (const NodeId node : {race.earlier, race.later}) {
      if (!AddOnce(node, &finding.nodes) || finding.evidence.size() >= 4) continue;
      AddEvidence(&finding, UseText(facts.trace, node, race.block), facts.trace[node].stack, {node},
                  {race.block});
    }
  }

  std::vector<Finding> Take() {
    for (auto& [site, finding] : by_site) {
      finding.severity = std::get<Severity>(site);
      finding.assumes = Assumption::kArguments;
      if (const size_t more = finding.blocks.size() - 1; more > 0)
        finding.message += "; the same in " + Counted(more, "other block");
    }
    return TakeValues(&by_site);
  }

  const Facts& facts;
  std::map<Site, Finding> by_site = {};
};

std::string MissingOrderMessage(const Ran& trace, const Race& race) {
  const NodeId a = race.earlier, b = race.later;
  if (race.kind == RaceKind::kAlloc) {
    const bool first = trace[a].kind == NodeKind::kMemAlloc;
    return Say(trace, "{} touches {}, and need not come after {}, which allocates it",
               first ? b : a, race.block, first ? a : b);
  }
  if (race.overlapping == Overlapping::kCertain) {
    return Say(trace, "nothing orders {} and {}, which touch the same bytes of {}, and one writes",
               a, b, race.block);
  }
  if (race.same_pointer) {
    return Say(trace,
               "nothing orders {} and {}, which are both given the same address in {}, and one may "
               "write there",
               a, b, race.block);
  }
  return Say(trace, "nothing orders {} and {}, which may touch the same bytes of {}", a, b,
             race.block);
}

// "scale (step.cu:17)"; without a line "node 3 (scale)".
std::string InProgram(const Ran& trace, NodeId node) {
  const PlaceFrame line = LineOfStack(trace, trace[node].stack);
  if (line == PlaceFrame()) return NameOf(trace, node);
  return NodeTitle(trace, node, 40) + " (" + ShortPlace(line.file, line.line) + ")";
}

// The calls that order the two as they were captured, in the program's own names and lines.
std::string OrderingAdvice(const Ran& trace, NodeId first, NodeId then) {
  const StreamId from = trace[first].stream, to = trace[then].stream;
  if (!from.valid() || !to.valid()) {
    return "add a dependency between the two (cudaGraphAddDependencies)";
  }
  if (from == to) return "record an event after the one, and wait for it before the other";
  return OrderByEvent(trace, {InProgram(trace, first), from}, {InProgram(trace, then), to},
                      trace[first].stack);
}

// None: nothing says that one of them writes what the other one touches.
std::optional<Severity> SeverityOf(const Race& race) {
  if (!race.sure) return race.typed ? std::optional(Severity::kNote) : std::nullopt;
  if (race.kind == RaceKind::kAlloc || race.overlapping == Overlapping::kCertain)
    return Severity::kError;
  if (!race.typed) return std::nullopt;
  if (race.same_pointer) return Severity::kWarning;
  if (race.overlapping == Overlapping::kUnknown) return std::nullopt;
  return Severity::kNote;
}

// How the edge works where order is lost; of an unknown producer nothing is known.
EarlyStart StartOf(const Facts& facts, const Race& race) {
  if (!race.producer) return {};
  const std::span<const InEdge> edges = facts.in_edges().Of(race.consumer.index());
  const auto edge = std::ranges::find_if(
      edges, [&](const InEdge& in) { return !in.full && in.from == race.producer; });
  if (edge == edges.end()) return {};
  return EarlyStartOf(facts.trace,
                      {.from = edge->from, .to = race.consumer, .from_port = edge->from_port});
}

Severity SeverityOf(const Race& race, const EarlyStart& start) {
  if (!race.surely_unordered || !race.sure) return Severity::kNote;
  // By accident in order, until the producer triggers.
  if (race.overlapping == Overlapping::kUnknown || start.at_end()) return Severity::kWarning;
  return Severity::kError;
}

// Evidence of the producer's machine code; empty: there is none.
std::string TriggerText(const Ran& trace, const Race& race, const EarlyStart& start) {
  if (!race.producer || start.from_port != kPortProgrammatic) return "";
  if (start.triggers == Triggers::kUnknown) return "";
  const char* text = "{} triggers: {} may start before its end";
  if (start.triggers == Triggers::kNo) {
    text =
        "{} never triggers: {} starts when all its blocks have ended, but what they wrote need not "
        "be visible";
  } else if (start.writes_after_trigger == Ternary::kYes) {
    text =
        "{} triggers, and may write after that: {} may run before these writes (assumes that they "
        "are to memory that both touch)";
  } else if (start.writes_after_trigger == Ternary::kNo) {
    text = "{} triggers after its last write: what it wrote is visible to {} only if that waits";
  }
  return Say(trace, text, race.producer, race.consumer);
}

// PyTorch hands memory on to its own stream only.
bool SameStream(const Ran& trace, const ReusePair& pair) {
  return trace[pair.earlier].stream == trace[pair.later].stream &&
         trace[pair.earlier].pool == trace[pair.later].pool;
}

void AddUnproved(const Facts& strict, const ReusePair& pair, Finding* finding) {
  const Ran& trace = strict.trace;
  finding->blocks.push_back(pair.later);
  finding->bytes += pair.bytes;
  if (finding->evidence.size() >= kShownEvidence) return;
  AddEvidence(finding, Say(trace, "{} could be put where {} lay", pair.later, pair.earlier),
              trace[pair.later].stack, {}, {pair.earlier, pair.later});
  for (const NodeId marker : strict.lives().Markers(pair.earlier, MarkerRule::kAtFree)) {
    if (strict.order().Before(marker, strict.lives()[pair.later].alloc)) continue;
    finding->evidence.back().text += Say(trace, ", and {} need not have ended", marker);
    finding->evidence.back().nodes = {marker};
    break;
  }
}

// The first pair of nodes, one for each block, that an order doesn't order, rather of those that
// are known to touch them; none: a pair of none.
std::pair<NodeId, NodeId> FindUnorderedUses(const Facts& facts, const Order& order,
                                            const BlockOverlap& overlap) {
  std::pair<NodeId, NodeId> found;
  for (const NodeId marker : facts.lives().Markers(overlap.earlier, MarkerRule::kLastUse)) {
    const bool sure = !OnlyMayTouch(facts.trace, marker, overlap.earlier);
    for (const NodeId touch : facts.lives().Touches(overlap.later)) {
      if (order.Before(marker, touch)) continue;
      if (sure && !OnlyMayTouch(facts.trace, touch, overlap.later)) return {marker, touch};
      if (!found.first.valid()) found = {marker, touch};
    }
  }
  return found;
}

// Lost only where it isn't known whether a kernel waits for its grid dependencies.
bool LostToTheUnknown(const Facts& facts, const BlockOverlap& overlap) {
  return facts.partial_edges() &&
         !FindUnorderedUses(facts, facts.hopeful_order(), overlap).first.valid();
}

bool Writes(const Ran& trace, NodeId node, BlockId block) {
  return std::ranges::any_of(trace.accesses.Of(trace[node].accesses), [&](const Access& access) {
    return access.block == block &&
           (access.mode == AccessMode::kWrite || access.mode == AccessMode::kReadWrite);
  });
}

Finding DescribeReuse(const Facts& facts, const BlockOverlap& overlap, GraphId graph) {
  const Ran& trace = facts.trace;
  const auto [earlier, later] = FindUnorderedUses(facts, facts.order(), overlap);
  Finding finding{.graph = graph, .blocks = {overlap.earlier, overlap.later}};
  finding.bytes = std::min(RoundedSize(trace[overlap.earlier]), RoundedSize(trace[overlap.later]));
  finding.assumes = Assumption::kArguments;
  finding.message = Say(trace, "{} lies where {} lay, and ", overlap.later, overlap.earlier);
  if (earlier.valid()) {
    const bool writes =
        Writes(trace, later, overlap.later) || Writes(trace, earlier, overlap.earlier);
    const bool sure = !OnlyMayTouch(trace, earlier, overlap.earlier) &&
                      !OnlyMayTouch(trace, later, overlap.later);
    finding.severity = writes && sure ? Severity::kError
                       : sure         ? Severity::kWarning
                                      : Severity::kNote;
    finding.nodes = {earlier, later};
    finding.message += Say(trace, "{} need not have ended when {} starts", earlier, later);
    if (!sure)
      finding.message += ": the address of one block is a word of a structure, maybe unused";
    finding.evidence = {CapturedThere(trace, earlier), CapturedThere(trace, later)};
  } else {
    finding.message += "nothing proves that it was over";
  }
  finding.advice =
      "order the two (an event from the one stream to the other), or record the block on every "
      "stream that uses it before it is freed";
  return finding;
}

// Nodes that a stream was after, and isn't after its frontier was set.
std::vector<NodeId> Dropped(const Facts& facts, const StreamFrontier& before,
                            const StreamFrontier& after) {
  std::vector<NodeId> dropped;
  for (const FrontierEntry& old : before.entries) {
    const bool kept = std::ranges::any_of(after.entries, [&](const FrontierEntry& entry) {
      return facts.order().EndsBefore(old.node, entry.node);
    });
    if (!kept) dropped.push_back(old.node);
  }
  return dropped;
}

// Blocks of the stream that were freed while it was after the nodes, whose last users it may now
// run beside.
void AddFreedBlocks(const Facts& facts, const StreamOp& op, Finding* finding) {
  for (const BlockId id : facts.blocks()[finding->graph.index()]) {
    const Block& block = facts.trace[id];
    if (block.stream != op.stream || block.free_requested >= op.seq) continue;
    const auto markers = facts.lives().Markers(id, MarkerRule::kAtFree);
    const bool hit = std::ranges::find_first_of(markers, finding->nodes) != markers.end();
    if (hit) AddBlock(facts.trace, id, finding);
  }
}

// The graph that was being made where the block was freed.
GraphId FreedIn(const Ran& trace, const Block& block, FrontierReplay* replay) {
  if (block.free_node.valid()) return trace[block.free_node].graph;
  replay->AdvanceTo(block.free_requested);
  return replay->Of(block.free_stream.valid() ? block.free_stream : block.stream).graph;
}

void DescribeFree(const Facts& facts, GraphId from, GraphId freed_in, Finding* finding) {
  const Ran& trace = facts.trace;
  const NodeId apart = facts.nesting().ConditionalApart(freed_in, from);
  const bool both = facts.nesting().ConditionalApart(from, freed_in).valid();
  finding->graph = freed_in;
  finding->severity = both ? Severity::kError : Severity::kWarning;
  finding->nodes = {apart};
  finding->message = Say(trace, "{} of {} {} freed in {}, which runs only if {} says so",
                         BlocksText(*finding), from, Is(finding->blocks.size()), freed_in, apart);
  finding->advice = "free memory in the graph where it was allocated, or in one that holds it";
  const BlockId first = finding->blocks.front();
  AddEvidence(finding, Say(trace, "{} was freed there", first), trace[first].free_stack, {},
              finding->blocks);
  finding->evidence.push_back(CapturedThere(trace, apart));
}

}  // namespace

// missing-order: nodes that touch one block and that nothing orders.
std::vector<Finding> FindMissingOrder(const Facts& facts) {
  RaceFindings found{facts};
  const Ran& trace = facts.trace;
  for (const Race& race : facts.races()) {
    if (race.ordered_if_full || race.kind == RaceKind::kFree) continue;
    const std::optional<Severity> severity = SeverityOf(race);
    if (!severity) continue;
    const bool runs = !facts.never_run()[facts.RootOf(race.earlier).index()];
    found.Add(race, runs ? *severity : Severity::kNote, [&](Finding* finding) {
      finding->message = MissingOrderMessage(trace, race);
      if (!runs) finding->message += "; this graph never runs";
      finding->advice = ReturnsWork(facts, race.earlier)
                            ? std::string(kWaitForWork)
                            : OrderingAdvice(trace, race.earlier, race.later);
      if (race.overlapping != Overlapping::kCertain) {
        finding->advice += ", if they touch the same bytes";
      }
    });
  }
  return found.Take();
}

// free-before-use: memory-free nodes that aren't ordered after all users.
std::vector<Finding> FindFreeBeforeUse(const Facts& facts) {
  RaceFindings found{facts};
  for (const Race& race : facts.races()) {
    if (race.ordered_if_full || race.kind != RaceKind::kFree || !race.sure) continue;
    found.Add(race, Severity::kError, [&](Finding* finding) {
      const bool frees_first = facts.trace[race.earlier].kind == NodeKind::kMemFree;
      finding->message =
          Say(facts.trace, "{} frees {}, and nothing orders it after {}, which touches it",
              frees_first ? race.earlier : race.later, race.block,
              frees_first ? race.later : race.earlier);
      finding->advice = "let the stream of the free wait for the other user before it frees";
    });
  }
  return found.Take();
}

// programmatic-only-order: order that rests on an edge that doesn't mean completion.
std::vector<Finding> FindProgrammaticOnlyOrder(const Facts& facts) {
  RaceFindings found{facts};
  const Ran& trace = facts.trace;
  for (const Race& race : facts.races()) {
    if (!race.ordered_if_full) continue;
    const EarlyStart start = StartOf(facts, race);
    const auto describe = [&](Finding* finding) {
      finding->message = Say(
          trace, "{}{} for its grid dependencies: nothing else ends {} before {} {} {}",
          race.consumer, race.surely_unordered ? " doesn't wait" : " isn't known to wait",
          race.earlier, race.later, race.kind == RaceKind::kFree ? "frees" : "touches", race.block);
      finding->advice = Say(trace,
                            "call cudaGridDependencySynchronize() in {} before it touches what it "
                            "shares, or launch it without programmatic serialization",
                            NodeTitle(trace, race.consumer, 40));
      if (const std::string text = TriggerText(trace, race, start); !text.empty())
        AddEvidence(finding, text, {}, {race.producer, race.consumer});
    };
    found.AddTo({facts.RootOf(race.consumer), SeverityOf(race, start), trace[race.consumer].kernel,
                 KernelId()},
                race, describe);
  }
  return found.Take();
}

// programmatic-only-order, of what isn't there yet: memory that PyTorch's rule would hand on,
// although only an edge that doesn't mean completion leads from its last use to the next block.
std::vector<Finding> FindUnprovedReuse(const Facts& torch, const Facts& strict) {
  const Ran& trace = strict.trace;
  const BlockOrder by_torch = torch.Blocks(MarkerRule::kAtFree);
  const BlockOrder proved = strict.Blocks(MarkerRule::kAtFree);
  return FindByGraph(torch, [&](GraphId graph, Finding* finding) {
    const size_t i = graph.index();
    for (const ReusePair& pair :
         FindReuse(by_torch, torch.blocks()[i], torch.overlaps()[i]).pairs) {
      if (!SameStream(trace, pair) || proved.Before(pair.earlier, pair.later)) continue;
      AddUnproved(strict, pair, finding);
    }
    if (finding->blocks.empty()) return;
    finding->check = "programmatic-only-order";
    finding->assumes = Assumption::kTorchStreams;
    finding->message = Say(trace,
                           "PyTorch's rule would reuse {} of {} behind programmatic edges, as if "
                           "they meant that the work before has ended",
                           FormatBytes(finding->bytes), graph);
    finding->advice =
        "don't let an allocator reuse across programmatic launches by order of launch";
  });
}

// unsafe-reuse: a block lies where another one lay, and nothing orders their uses.
std::vector<Finding> FindUnsafeReuse(const Facts& facts) {
  std::vector<Finding> findings;
  const BlockOrder order = facts.Blocks(MarkerRule::kLastUse);
  const std::vector<bool> histories = GraphsOfHistories(facts.trace);
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    if (histories[graph]) continue;  // what used the blocks isn't in it
    for (const BlockOverlap& overlap : facts.overlaps()[graph]) {
      const BlockLife& earlier = facts.lives()[overlap.earlier];
      if (earlier.elsewhere || order.Before(overlap.earlier, overlap.later)) continue;
      // The driver places the memory of nodes, and knows what it does.
      if (facts.trace[overlap.later].alloc_node.valid()) continue;
      // A block freed by a call that no node stands for is over for its owner.
      if (earlier.escaped && earlier.foreign) continue;
      Finding& finding = findings.emplace_back(DescribeReuse(facts, overlap, GraphId(graph)));
      if (finding.nodes.empty() || !LostToTheUnknown(facts, overlap)) continue;
      finding.severity = Severity::kNote;
      finding.message += ": a kernel between them isn't known to wait for its grid dependencies";
    }
  }
  return findings;
}

// frontier-rewind: streams that were set back while capturing.
std::vector<Finding> FindFrontierRewinds(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (!HasRewinds(trace)) return {};
  std::vector<Finding> findings;
  FrontierReplay replay(trace, WholeTrace(trace));
  for (const StreamOp& op : trace.stream_ops) {
    if (op.kind != StreamOpKind::kSetFrontier) continue;
    if (op.stream.index() >= trace.streams.size()) continue;
    replay.AdvanceTo(op.seq);
    const StreamFrontier before = replay.Of(op.stream);
    if (!before.capturing()) continue;
    replay.AdvanceTo(op.seq + 1);
    Finding finding{.graph = facts.roots()[before.graph.index()], .streams = {op.stream}};
    finding.nodes = Dropped(facts, before, replay.Of(op.stream));
    if (finding.nodes.empty()) continue;
    const NodeId first = finding.nodes.front();
    AddFreedBlocks(facts, op, &finding);
    finding.severity = finding.blocks.empty() ? Severity::kNote : Severity::kWarning;
    finding.message = Say(trace, "{} was set back {}: what it captures next isn't after {}",
                          op.stream, facts.places().Of(op.seq), first);
    if (!finding.blocks.empty()) {
      finding.message += Say(trace, "; {} freed before must not be reused there as if it were",
                             ListOf(finding.blocks));
    }
    finding.advice = "fork to another stream by an event instead of setting the frontier back";
    AddEvidence(&finding, CapturedOn(trace, first), trace[first].stack, finding.nodes);
    findings.push_back(std::move(finding));
  }
  return findings;
}

// cross-branch-free: memory freed in a body of a conditional that isn't the one it came from.
std::vector<Finding> FindCrossBranchFrees(const Facts& facts) {
  const Ran& trace = facts.trace;
  if (std::ranges::find(trace.graphs, GraphOrigin::kBody, &Graph::origin) == trace.graphs.end())
    return {};
  FrontierReplay replay(trace, WholeTrace(trace));
  std::map<std::pair<GraphId, GraphId>, Finding> by_graphs;
  for (const uint32_t freed : BlocksBySeq(trace, &Block::free_requested)) {
    const BlockLife& life = facts.lives()[BlockId(freed)];
    if (!life.root.valid()) continue;
    const GraphId freed_in = FreedIn(trace, trace.blocks[freed], &replay);
    if (!freed_in.valid() || facts.roots()[freed_in.index()] != life.root) continue;
    if (!facts.nesting().ConditionalApart(freed_in, life.alloc.graph).valid()) continue;
    AddBlock(trace, BlockId(freed), &by_graphs[{life.alloc.graph, freed_in}]);
  }
  for (auto& [graphs, finding] : by_graphs)
    DescribeFree(facts, graphs.first, graphs.second, &finding);
  return TakeValues(&by_graphs);
}

}  // namespace graphkit
