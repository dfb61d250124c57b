// Checks of memory that blocks, streams and graphs could share, and of pools that graphs share.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr size_t kPathsShown = 4;
constexpr size_t kBlocksNamed = 100;

// " of stream 1 'side'": where the earlier block is found, if not where the later one looks.
std::string Apart(const Ran& trace, const ReusePair& pair) {
  const Block &earlier = trace[pair.earlier], &later = trace[pair.later];
  if (earlier.pool != later.pool) {
    return earlier.pool.valid() ? " in pool " + std::to_string(earlier.pool.value) : "";
  }
  return earlier.stream != later.stream ? " of " + NameOf(trace, earlier.stream) : "";
}

// Nodes from `from` to `to`, both included, each joined to the next by an edge, as few as there can
// be: searched backwards, only through nodes that end after `from`. Empty when there is no path
// inside one graph, or too much was looked at.
std::vector<NodeId> ShortestPath(const Order& order, const InEdges& in, NodeId from, NodeId to) {
  constexpr size_t kMostNodes = 100'000;
  std::unordered_map<uint32_t, NodeId> next;  // of each node reached, the way to `to`
  std::vector<NodeId> open = {to};
  next.emplace(to.value, NodeId());
  for (size_t at = 0; at < open.size() && at < kMostNodes; ++at) {
    const NodeId node = open[at];
    if (node == from) break;
    for (const InEdge& edge : in.Of(node.index())) {
      if (!order.EndsBefore(from, edge.from)) continue;
      if (next.emplace(edge.from.value, node).second) open.push_back(edge.from);
    }
  }
  std::vector<NodeId> path;
  if (!next.contains(from.value)) return path;
  for (NodeId node = from; node.valid(); node = next.at(node.value)) path.push_back(node);
  return path;
}

// The edges from one node to another, as evidence; says so when there is none that can be shown.
Evidence ProofPath(const Facts& facts, NodeId from, NodeId to) {
  Evidence evidence;
  evidence.nodes = ShortestPath(facts.order(), facts.in_edges(), from, to);
  if (evidence.nodes.empty()) {
    evidence.nodes = {from, to};
    evidence.text =
        Say(facts.trace, "{} is before {}, through the graphs that hold them", from, to);
    return evidence;
  }
  constexpr size_t kShown = 6;
  for (size_t i = 0; i < evidence.nodes.size(); ++i) {
    const bool skipped =
        evidence.nodes.size() > kShown && i >= kShown / 2 && i + kShown / 2 < evidence.nodes.size();
    if (skipped && i > kShown / 2) continue;
    if (i > 0) evidence.text += " -> ";
    evidence.text += skipped ? "..." : NameOf(facts.trace, evidence.nodes[i]);
  }
  return evidence;
}

// Proof that the later block may take the earlier one's memory: a way from each last use to the
// first one.
void Prove(const Facts& facts, const ReusePair& pair, Finding* finding) {
  const Ran& trace = facts.trace;
  AddEvidence(
      finding,
      Say(trace, "{} could share memory with {}{}", pair.later, pair.earlier, Apart(trace, pair)),
      trace[pair.later].stack, {}, {pair.earlier, pair.later});
  const auto markers = facts.lives().Markers(pair.earlier, MarkerRule::kLastUse);
  const auto touches = facts.lives().Touches(pair.later);
  if (touches.empty()) return;
  const NodeId first = touches.front();
  for (const NodeId marker : markers.first(std::min(markers.size(), kPathsShown))) {
    if (!facts.order().Before(marker, first)) continue;
    finding->evidence.push_back(ProofPath(facts, marker, first));
  }
}

// Of pairs alike, the first is proved.
void ProveSome(const Facts& facts, std::span<const ReusePair> pairs, Finding* finding) {
  std::set<std::tuple<Bytes, StackId, StackId>> shown;
  for (const ReusePair& pair : pairs) {
    if (shown.size() == kShownEvidence) break;
    const StackId earlier = facts.trace[pair.earlier].stack, later = facts.trace[pair.later].stack;
    if (shown.insert({pair.bytes, earlier, later}).second) Prove(facts, pair, finding);
  }
}

// Without proofs.
std::vector<Finding> FindPairs(const Facts& facts) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const ReuseFacts& reuse = facts.reuse()[graph.index()];
    if (!WorthANote(reuse.bytes, facts.usage()[graph.index()])) return;
    finding->severity = Severity::kNote;
    finding->bytes = reuse.bytes;
    Bytes by_pool = 0, by_stream = 0;  // that one pool, or one stream of it, can't reuse
    for (const ReusePair& pair : reuse.pairs) {
      if (finding->blocks.size() < kBlocksNamed) finding->blocks.push_back(pair.later);
      finding->assumes = std::max(finding->assumes, pair.assumes);
      const Block &earlier = facts.trace[pair.earlier], &later = facts.trace[pair.later];
      const bool pools = earlier.pool != later.pool;
      if (pools || earlier.stream != later.stream) (pools ? by_pool : by_stream) += pair.bytes;
    }
    finding->message = Say(facts.trace, "{} of {} could share memory with earlier blocks: {}",
                           FormatBytes(reuse.bytes), graph, Counted(reuse.pairs.size(), "block"));
    finding->advice =
        "free each block right after its last use, to an allocator that hands memory on once that "
        "use is ordered before the malloc (for PyTorch: docs/torch-allocator.md)";
    if (by_stream > 0) {
      finding->message += "; " + FormatBytes(by_stream) + " was free for another stream only";
      finding->advice += "; allocate on the stream that frees";
    }
    if (by_pool > 0) {
      finding->message += "; " + FormatBytes(by_pool) + " was free in another pool";
      finding->advice += "; let both allocate from one pool";
    }
    finding->advice += "; graphkit replay shows what each policy saves";
  });
}

// Graphs that are launched on one stream only, each with a private pool that no other graph has: no
// two run at once, so that one pool would do. By that stream.
std::map<StreamId, std::vector<GraphId>> GraphsApart(const Facts& facts) {
  const Ran& trace = facts.trace;
  std::vector<bool> single(trace.pools.size());  // by pool: one graph has it
  for (const auto& [pool, graphs] : GraphsByPool(facts)) single[pool.index()] = graphs.size() == 1;
  const auto is_apart = [&](BlockId block) {
    const PoolId pool = trace[block].pool;
    return pool.valid() && single[pool.index()];
  };
  std::map<StreamId, std::vector<GraphId>> apart;
  const auto& launches = facts.launches();
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    if (launches[graph].empty() || facts.blocks()[graph].empty()) continue;
    const StreamId stream = trace.launches[launches[graph].front()].stream;
    const bool one_stream = std::ranges::all_of(
        launches[graph], [&](uint32_t at) { return trace.launches[at].stream == stream; });
    if (one_stream && std::ranges::all_of(facts.blocks()[graph], is_apart)) {
      apart[stream].emplace_back(graph);
    }
  }
  return apart;
}

// The most of a graph's memory that is live at once, without what it leaves.
Bytes PassingBytes(const Facts& facts, GraphId graph) {
  Bytes left = 0;
  for (const BlockId block : facts.blocks()[graph.index()]) {
    if (!facts.lives()[block].freed) left += RoundedSize(facts.trace[block]);
  }
  const Bytes peak = facts.usage()[graph.index()].peak_live;
  return peak - std::min(peak, left);
}

// While a graph's pools hold memory of the driver: from its first allocation on.
Interval<Seq> HoldsMemory(const Facts& facts, GraphId graph) {
  const Ran& trace = facts.trace;
  Interval<Seq> held{kNever, 0};
  for (const BlockId id : facts.blocks()[graph.index()]) {
    const Block& block = trace[id];
    held.begin = std::min(held.begin, block.allocated);
    const Seq freed = block.segment.valid() ? trace[block.segment].freed : kNever;
    held.end = std::max(held.end, std::min(freed, trace[block.pool].destroyed));
  }
  return held;
}

// Of graphs with a pool each, those whose pools are there at once where one pool would take the
// most less: the sum of what passes in them, without the largest.
struct PoolsTogether {
  std::vector<GraphId> graphs;
  Bytes saved = 0;
};

PoolsTogether FindTogether(const Facts& facts, const std::vector<GraphId>& all) {
  std::vector<std::tuple<Seq, bool, Bytes>> changes;  // where memory comes (true) and goes
  std::vector<Interval<Seq>> held;                    // by graph
  for (const GraphId graph : all) {
    held.push_back(HoldsMemory(facts, graph));
    const Bytes passing = PassingBytes(facts, graph);
    changes.emplace_back(held.back().begin, true, passing);
    changes.emplace_back(held.back().end, false, passing);
  }
  std::ranges::sort(changes);
  PoolsTogether most;
  std::multiset<Bytes> there;
  Bytes sum = 0;
  Seq when = 0;
  for (const auto& [seq, comes, bytes] : changes) {
    sum = comes ? sum + bytes : sum - bytes;
    if (!comes) there.erase(there.find(bytes));
    if (comes) there.insert(bytes);
    if (there.empty() || sum - *there.rbegin() <= most.saved) continue;
    most.saved = sum - *there.rbegin();
    when = seq;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (held[i].contains(when)) most.graphs.push_back(all[i]);
  }
  return most;
}

void FindPoolsApart(const Facts& facts, std::vector<Finding>* findings) {
  for (const auto& [stream, all] : GraphsApart(facts)) {
    const auto [graphs, saved] = FindTogether(facts, all);
    if (saved == 0) continue;
    Finding& finding = findings->emplace_back(Finding{.bytes = saved, .graph = graphs.front()});
    finding.message =
        Say(facts.trace,
            "{}, {} first, have a pool each and run one after another on {}: one pool "
            "would take {} less",
            Counted(graphs.size(), "graph"), finding.graph, stream, FormatBytes(finding.bytes));
    finding.advice =
        "pass one pool to all captures (in PyTorch: torch.cuda.graph(pool=…)), the largest graph "
        "first, and read or copy what a graph leaves before the next launch";
    for (size_t i = 0; i < std::min(graphs.size(), kShownEvidence); ++i) {
      const BlockId first = facts.blocks()[graphs[i].index()].front();
      finding.evidence.push_back(AllocatedThere(facts, first));
      const auto touches = facts.lives().Touches(first);
      if (!facts.trace[first].stack.valid() && !touches.empty())
        finding.evidence.push_back(CapturedThere(facts.trace, touches.front()));
    }
  }
}

// Graphs of one pool, by the one stream that each allocates on.
using ByStream = std::map<StreamId, std::vector<GraphId>>;

std::map<PoolId, ByStream> FindSharedPools(const Facts& facts) {
  std::map<PoolId, ByStream> pools;
  for (const auto& [pool, graphs] : GraphsByPool(facts)) {
    if (graphs.size() < 2) continue;
    for (const GraphId graph : graphs) {
      const std::vector<BlockId>& blocks = facts.blocks()[graph.index()];
      const StreamId stream = facts.trace[blocks.front()].stream;
      const bool one = std::ranges::all_of(blocks, [&, pool = pool](BlockId id) {
        return facts.trace[id].stream == stream && facts.trace[id].pool == pool;
      });
      if (one) pools[pool][stream].push_back(graph);
    }
  }
  return pools;
}

constexpr size_t kMostPairs = 1000;  // of graphs that share a pool

constexpr char kAdvice[] =
    "launch graphs that share a pool in the order of their captures, or read or copy what a graph "
    "leaves before the next launch";

struct OrderFinder {
  std::vector<Finding> FindReordered() {
    for (const SpoiltRead& read : facts.spoilt_reads()) AddRead(read);
    AddSpoilt();
    for (auto& [pool, graphs] : GraphsByPool(facts)) {
      std::erase_if(graphs, [&](GraphId id) { return facts.launches()[id.index()].empty(); });
      LookAt(graphs);
    }
    return std::move(findings);
  }

  void AddRead(const SpoiltRead& read) {
    const auto touches = facts.lives().Touches(read.left);
    const auto reader = std::ranges::find_if(touches, [&](NodeId node) {
      return facts.RootOf(node) == read.reader && !OnlyMayTouch(trace, node, read.left);
    });
    if (reader == touches.end()) return;
    is_read.insert(read.left);
    Finding& finding = spoilt[{read.owner, read.writer, read.reader}];
    if (finding.nodes.empty()) {
      finding.nodes = {*reader};
      finding.evidence = {CapturedThere(trace, *reader)};
      if (trace.launches[read.launch].stack.valid())
        finding.evidence.push_back(LaunchedThere(trace, read.launch, read.reader, " reads it"));
    }
    finding.graph = read.writer;
    AddLeft(read.left, &finding);
    finding.message =
        Say(trace,
            "{} was launched between {} and {} of one pool: it writes over {}, which "
            "{} leaves and {} reads",
            read.writer, read.owner, read.reader, BlocksText(finding), read.owner, read.reader);
    finding.advice = kAdvice;
  }

  // One finding for each pool: of the first graphs of which it is so.
  void AddSpoilt() {
    std::map<PoolId, std::vector<Finding>> by_pool;
    for (Finding& finding : TakeValues(&spoilt))
      by_pool[trace[finding.blocks.front()].pool].push_back(std::move(finding));
    for (auto& [pool, all] : by_pool) {
      Finding& first = findings.emplace_back(std::move(all.front()));
      for (size_t i = 1; i < all.size(); ++i) {
        for (const BlockId block : all[i].blocks) AddBlockOnce(trace, block, &first);
      }
      if (all.size() > 1) first.message += "; the same of " + Counted(all.size() - 1, "more graph");
    }
  }

  void LookAt(const std::vector<GraphId>& graphs) {
    Finding unread{.severity = Severity::kNote};
    for (size_t later = 1; later < graphs.size(); ++later) {
      for (size_t earlier = 0; earlier < later && pairs < kMostPairs; ++earlier) {
        const GraphId a = graphs[earlier], b = graphs[later];
        if (facts.launches()[a.index()].front() < facts.launches()[b.index()].front()) continue;
        ++pairs;
        AddPair(a, b, &unread);
      }
    }
    if (unread.blocks.empty()) return;
    unread.message = Say(trace,
                         "graphs that share a pool, {} first, were launched after ones that were "
                         "captured later, and write over {}, which those leave; no other graph "
                         "reads it",
                         unread.graph, BlocksText(unread));
    unread.advice = kAdvice;
    findings.push_back(std::move(unread));
  }

  // Blocks that the later capture leaves behind, where the earlier one writes.
  void AddPair(GraphId a, GraphId b, Finding* unread) const {
    for (const BlockId left : facts.blocks()[b.index()]) {
      if (facts.lives()[left].freed || is_read.contains(left)) continue;
      const auto over = [&, bytes = AddressesOf(trace[left])](BlockId id) {
        return Overlaps(AddressesOf(trace[id]), bytes);
      };
      if (std::ranges::none_of(facts.blocks()[a.index()], over)) continue;
      if (!unread->graph.valid()) unread->graph = a;
      AddLeft(left, unread);
    }
  }

  void AddLeft(BlockId left, Finding* finding) const {
    if (!AddBlockOnce(trace, left, finding)) return;
    if (finding->evidence.size() < kShownEvidence && trace[left].stack.valid())
      finding->evidence.push_back(AllocatedThere(facts, left));
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  size_t pairs = 0;
  std::set<BlockId> is_read = {};  // by another graph, when it was written over
  std::map<std::tuple<GraphId, GraphId, GraphId>, Finding> spoilt = {};
  std::vector<Finding> findings = {};
};

}  // namespace

// reuse-opportunity: blocks that could have used memory of earlier ones, and the cause that they
// didn't: another stream or pool had it.
std::vector<Finding> FindReuseOpportunities(const Facts& facts) {
  std::vector<Finding> findings = OneForEachCause(FindPairs(facts));
  for (Finding& finding : findings)
    ProveSome(facts, facts.reuse()[finding.graph.index()].pairs, &finding);
  FindPoolsApart(facts, &findings);
  return findings;
}

// pool-across-streams: pools whose graphs were captured on many streams.
std::vector<Finding> FindPoolsAcrossStreams(const Facts& facts) {
  std::vector<Finding> findings;
  for (const auto& [pool, by_stream] : FindSharedPools(facts)) {
    if (by_stream.size() < 2) continue;
    Finding finding;
    Bytes most = 0;
    for (const auto& [stream, graphs] : by_stream) {
      Bytes peak = 0;
      for (const GraphId graph : graphs)
        peak = std::max(peak, facts.usage()[graph.index()].peak_live);
      finding.bytes += peak;
      most = std::max(most, peak);
      finding.streams.push_back(stream);
      finding.graph = graphs.front();
      AddEvidence(&finding, Say(facts.trace, "{} allocates on {}: {} at most", graphs.front(),
                                stream, FormatBytes(peak)));
    }
    finding.bytes -= most;
    finding.message =
        Say(facts.trace,
            "graphs of pool {} were captured on {}: an allocator gives memory back to "
            "the stream that it came from, so that {} can't be shared",
            pool.value, ListOf(facts.trace, finding.streams), FormatBytes(finding.bytes));
    finding.advice = "capture all graphs that share a pool on one stream";
    findings.push_back(std::move(finding));
  }
  return findings;
}

// replay-order: graphs of one pool launched in another order than captured.
std::vector<Finding> FindReplayOrders(const Facts& facts) {
  return OrderFinder{facts}.FindReordered();
}

}  // namespace graphkit
