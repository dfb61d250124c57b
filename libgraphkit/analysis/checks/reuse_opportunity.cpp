// reuse-opportunity: blocks that could have used memory of earlier ones, and the cause that they
// didn't: another stream or pool had it, or the allocator looked for it on one stream alone.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr size_t kPathsShown = 4;
constexpr size_t kBlocksNamed = 100;

// " of stream 1 'side'": where the earlier block is found, if not where the later one looks.
std::string Apart(const Trace& trace, const ReusePair& pair) {
  const Block &earlier = trace[pair.earlier], &later = trace[pair.later];
  if (earlier.pool != later.pool) {
    return earlier.pool.valid() ? " in pool " + std::to_string(earlier.pool.value) : "";
  }
  return earlier.stream != later.stream ? " of " + NameOf(trace, earlier.stream) : "";
}

// Proof that the later block may take the earlier one's memory: a way from each last use to the
// first one.
void Prove(const Facts& facts, const ReusePair& pair, Finding* finding) {
  const Trace& trace = facts.trace;
  finding->evidence.push_back({.text = NameOf(trace, pair.later) + " could share memory with " +
                                       NameOf(trace, pair.earlier) + Apart(trace, pair),
                               .blocks = {pair.earlier, pair.later},
                               .stack = trace[pair.later].stack});
  const auto markers = facts.lives().Markers(pair.earlier, MarkerRule::kLastUse);
  const auto touches = facts.lives().Touches(pair.later);
  if (touches.empty()) return;
  const NodeId first = touches.front().node;
  for (const NodeId marker : markers.first(std::min(markers.size(), kPathsShown))) {
    if (!facts.order().Before(marker, first)) continue;
    finding->evidence.push_back(ProofPath(facts, marker, first));
  }
}

// Of reused bytes, those that an allocator of one stream and one pool can't reuse.
struct Separated {
  Bytes by_pool = 0;
  Bytes by_stream = 0;  // in one pool

  void Add(const Trace& trace, const ReusePair& pair) {
    const Block &earlier = trace[pair.earlier], &later = trace[pair.later];
    if (earlier.pool != later.pool) {
      by_pool += pair.bytes;
    } else if (earlier.stream != later.stream) {
      by_stream += pair.bytes;
    }
  }

  std::string Cause() const {
    std::string text;
    if (by_stream > 0) text = "; " + FormatBytes(by_stream) + " was free for another stream only";
    if (by_pool > 0) text += "; " + FormatBytes(by_pool) + " was free in another pool";
    return text;
  }
  std::string Advice() const {
    std::string text;
    if (by_stream > 0) text = "; allocate on the stream that frees";
    if (by_pool > 0) text += "; let both allocate from one pool";
    return text;
  }
};

std::vector<Finding> FindPairs(const Facts& facts) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const ReuseFacts& reuse = facts.reuse()[graph.index()];
    if (reuse.pairs.empty()) return;
    finding->bytes = reuse.bytes;
    Separated separated;
    for (const ReusePair& pair : reuse.pairs) {
      if (finding->blocks.size() < kBlocksNamed) finding->blocks.push_back(pair.later);
      finding->assumes = std::max(finding->assumes, pair.assumes);
      separated.Add(facts.trace, pair);
    }
    finding->message =
        FormatBytes(reuse.bytes) + " of " + NameOf(facts.trace, graph) +
        " could share memory with earlier blocks: " + Count(reuse.pairs.size(), "block") +
        separated.Cause();
    finding->advice =
        "free each block right after its last use, to an allocator that hands memory on once that "
        "use is ordered before the malloc (for PyTorch: docs/torch-allocator.md)" +
        separated.Advice() + "; graphkit replay shows what each policy saves";
    std::set<std::tuple<Bytes, StackId, StackId>> shown;  // of pairs alike, the first
    for (const ReusePair& pair : reuse.pairs) {
      if (shown.size() == kShownEvidence) break;
      const StackId earlier = facts.trace[pair.earlier].stack,
                    later = facts.trace[pair.later].stack;
      if (shown.insert({pair.bytes, earlier, later}).second) Prove(facts, pair, finding);
    }
  });
}

// The last block that each stream allocates in a graph: what is before any is before it.
std::vector<BlockId> LastOfStreams(const Trace& trace, const std::vector<BlockId>& blocks) {
  std::vector<BlockId> last;
  std::vector<bool> seen(trace.streams.size());
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const StreamId stream = trace[*block].stream;
    if (!stream.valid() || seen[stream.index()]) continue;
    seen[stream.index()] = true;
    last.push_back(*block);
  }
  return last;
}

// A later allocation that could have taken the block's memory; none if its own stream could have.
BlockId TakerElsewhere(const Facts& facts, const BlockOrder& order, BlockId id,
                       const std::vector<BlockId>& last) {
  const auto own = [&](BlockId later) {
    return facts.trace[later].stream == facts.trace[id].stream;
  };
  const auto can_take = [&](BlockId later) { return order.Before(id, later); };
  const auto of_own = std::ranges::find_if(last, own);
  if (of_own != last.end() && can_take(*of_own)) return {};
  const auto taker = std::find_if(last.rbegin(), last.rend(), can_take);
  return taker == last.rend() ? BlockId() : *taker;
}

// Deferred blocks that a later allocation could have taken, but none was made on their own stream,
// where alone the allocator looks.
std::vector<Finding> FindNeverReclaimed(const Facts& facts) {
  const BlockOrder order = facts.Blocks(MarkerRule::kAtFree);
  const Trace& trace = facts.trace;
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    if (facts.usage()[graph.index()].deferred == 0) return;
    const std::vector<BlockId> last = LastOfStreams(trace, facts.blocks()[graph.index()]);
    for (const BlockId id : facts.blocks()[graph.index()]) {
      if (!Deferred(trace[id])) continue;
      const BlockId taker = TakerElsewhere(facts, order, id, last);
      if (!taker.valid()) continue;
      AddBlock(trace, id, finding);
      if (finding->evidence.size() >= kShownEvidence) continue;
      const auto name = [&](BlockId block) {
        return NameOf(trace, block) + " of " + NameOf(trace, trace[block].stream);
      };
      finding->evidence.push_back({.text = name(id) + " is over before " + name(taker),
                                   .blocks = {id, taker},
                                   .stack = trace[id].stack});
    }
    if (finding->blocks.empty()) return;
    finding->message = FormatBytes(finding->bytes) + " in " + ListOf(finding->blocks) + " of " +
                       NameOf(trace, graph) +
                       " could be reused by other streams, and their own never allocates again";
    finding->advice =
        "allocate once more on the stream after its join, or use an allocator that hands memory on "
        "across streams";
    finding->assumes = Assumption::kTorchStreams;
  });
}

// Graphs that are launched on one stream only, each with a private pool that no other graph has: no
// two run at once, so that one pool would do. By that stream.
std::map<StreamId, std::vector<GraphId>> GraphsApart(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<std::vector<GraphId>> graphs_of(trace.pools.size());
  for (size_t graph = 0; graph < facts.blocks().size(); ++graph) {
    for (const BlockId block : facts.blocks()[graph]) {
      const PoolId pool = trace[block].pool;
      if (pool.valid()) AddOnce(GraphId(graph), &graphs_of[pool.index()]);
    }
  }
  const auto is_apart = [&](BlockId block) {
    const PoolId pool = trace[block].pool;
    return pool.valid() && trace[pool].kind == PoolKind::kPrivate &&
           graphs_of[pool.index()].size() == 1;
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

void FindPoolsApart(const Facts& facts, std::vector<Finding>* findings) {
  for (const auto& [stream, graphs] : GraphsApart(facts)) {
    Bytes sum = 0, largest = 0;
    for (const GraphId graph : graphs) {
      const Bytes passing = PassingBytes(facts, graph);
      sum += passing;
      largest = std::max(largest, passing);
    }
    if (sum == largest) continue;
    Finding finding;
    finding.graph = graphs.front();
    finding.bytes = sum - largest;
    finding.message = Count(graphs.size(), "graph") + ", " + NameOf(facts.trace, finding.graph) +
                      " first, have a pool each and run one after another on " +
                      NameOf(facts.trace, stream) + ": one pool would take " +
                      FormatBytes(finding.bytes) + " less";
    finding.advice =
        "pass one pool to all captures (in PyTorch: torch.cuda.graph(pool=…)), the largest graph "
        "first, and read or copy what a graph leaves before the next launch";
    for (size_t i = 0; i < std::min(graphs.size(), kShownEvidence); ++i) {
      finding.evidence.push_back(AllocatedThere(facts, facts.blocks()[graphs[i].index()].front()));
    }
    findings->push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> FindReuseOpportunities(const Facts& facts) {
  std::vector<Finding> findings = FindPairs(facts);
  for (Finding& finding : FindNeverReclaimed(facts)) findings.push_back(std::move(finding));
  FindPoolsApart(facts, &findings);
  return findings;
}

}  // namespace graphkit
