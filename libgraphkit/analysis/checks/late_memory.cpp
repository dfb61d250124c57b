// Checks of memory that comes back later than it could.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/torch_options.h"

namespace graphkit {
namespace {

constexpr std::string_view kReuseOption = "graph_capture_record_stream_reuse";
constexpr const char* kOldTorch =
    "take an allocator that reuses during capture: PyTorch's since 2.9, or graphkit's "
    "(docs/torch-allocator.md)";

// The cause that a block which crossed streams came back later than its owner let go.
enum class Why : uint8_t {
  kForeignStream,   // a stream of the block wasn't in the capture
  kAllocatorWaits,  // ordered before a later allocation on its stream, and still not reused
  kStreamIdle,      // joined, but its stream allocates no more
  kFreedLate,       // the last use was joined; the free was requested later than that
  kNoJoin,          // its stream never waits for the last use
};

struct DeferredBlocks {
  std::vector<Finding> FindCauses() {
    for (size_t i = 0; i < facts.blocks().size(); ++i) {
      if (facts.usage()[i].deferred > 0) FindIn(GraphId(i));
    }
    return std::move(findings);
  }

  void FindIn(GraphId graph) {
    for (const BlockId block : facts.blocks()[graph.index()]) {
      const StreamId stream = trace[block].stream;
      if (!stream.valid()) continue;
      last_block[stream.index()] = block;
      last_node[stream.index()] = NodeId();  // not one of another graph
    }
    for (const uint32_t node : nodes.Of(graph.index())) {
      const StreamId stream = trace.nodes[node].stream;
      if (stream.valid()) last_node[stream.index()] = NodeId(node);
    }
    for (const BlockId block : facts.blocks()[graph.index()]) {
      if (Deferred(trace[block])) Add(graph, block);
    }
    for (auto& [key, finding] : by_cause) {
      Finish(key.first, &finding);
      findings.push_back(std::move(finding));
    }
    by_cause.clear();
  }

  void Add(GraphId graph, BlockId id) {
    Finding& finding = by_cause[{WhyDeferred(id), SiteOf(id)}];
    finding.graph = graph;
    AddBlock(trace, id, &finding);
    for (const uint32_t use : recorded.Of(id.index()))
      AddOnce(trace.block_streams[use].stream, &finding.streams);
  }

  // The line of the program's own that allocated the block; else its stack, which may be none.
  std::string SiteOf(BlockId id) const {
    const StackId stack = trace[id].stack;
    const std::string line = OwnPlace(trace, stack);
    return line.empty() && stack.valid() ? std::to_string(stack.index()) : line;
  }

  Why WhyDeferred(BlockId id) const {
    const Block& block = trace[id];
    if (facts.lives()[id].foreign || !block.stream.valid()) return Why::kForeignStream;
    const BlockId last = last_block[block.stream.index()];
    if (last.valid() && at_free.Before(id, last)) return Why::kAllocatorWaits;
    if (JoinedBy(id, MarkerRule::kAtFree)) return Why::kStreamIdle;
    return JoinedBy(id, MarkerRule::kLastUse) ? Why::kFreedLate : Why::kNoJoin;
  }

  // True if the block's own stream ends up after all its markers.
  bool JoinedBy(BlockId id, MarkerRule rule) const {
    return last_node[trace[id].stream.index()].valid() && !FirstUnjoined(id, rule).valid();
  }

  // The first marker of the block that its stream doesn't wait for.
  NodeId FirstUnjoined(BlockId id, MarkerRule rule) const {
    const NodeId last = last_node[trace[id].stream.index()];
    for (const NodeId marker : facts.lives().Markers(id, rule)) {
      if (!last.valid() || !facts.order().EndsBefore(marker, last)) return marker;
    }
    return {};
  }

  void Finish(Why why, Finding* finding) const {
    const BlockId first = finding->blocks.front();
    const Usage& usage = facts.usage()[finding->graph.index()];
    const Bytes cost = usage.peak_held - std::min(usage.peak_held, usage.peak_live);
    const Words words =
        histories[finding->graph.index()] ? OfHistory() : WordsFor(why, first, finding->streams);
    const bool matters = cost > 0 && cost >= usage.peak_held / 100;
    finding->severity = matters ? Severity::kWarning : Severity::kNote;
    finding->message =
        Say(trace, "{} in {} of {} {}{}; {}", FormatBytes(finding->bytes), ListOf(finding->blocks),
            finding->graph, HowLate(finding->blocks), words.reason,
            cost > 0 ? "deferred frees raise the peak of the graph by " + FormatBytes(cost)
                     : "it costs nothing: the peak is elsewhere");
    finding->advice = words.advice;
    for (const NodeId node : facts.lives().Markers(first, MarkerRule::kLastUse)) {
      finding->nodes.push_back(node);
      AddEvidence(finding,
                  Say(trace, "{} was last touched by {} on {}", first, node, trace[node].stream),
                  trace[node].stack, {node}, {first});
    }
    AddEvidence(finding,
                Say(trace, "{} was allocated on {}, {}", first, trace[first].stream,
                    facts.places().Of(trace[first].allocated)),
                trace[first].stack, {}, {first});
    finding->assumes = Assumption::kTorchStreams;
  }

  std::string HowLate(const std::vector<BlockId>& blocks) const {
    size_t most = 0;
    for (const BlockId id : blocks) {
      if (trace[id].free_completed == kNever) return "were freed and never became usable again";
      most = std::max(
          most, NodesBefore(trace[id].free_completed) - NodesBefore(trace[id].free_requested));
    }
    if (most == 0) return "were freed, and became usable only later";
    return "were freed but stayed unusable for up to " + Counted(most, "further node");
  }
  size_t NodesBefore(Seq seq) const {
    const auto at = std::ranges::lower_bound(trace.nodes, seq, {}, &Node::seq);
    return static_cast<size_t>(at - trace.nodes.begin());
  }

  struct Words {
    std::string reason, advice;
  };
  Words WordsFor(Why why, BlockId block, const std::vector<StreamId>& streams) const {
    const std::string own = NameOf(trace, trace[block].stream), others = ListOf(trace, streams);
    switch (why) {
      case Why::kForeignStream:
        return {": a stream that used it (" + others + ") was not in the capture at the free",
                Say(trace,
                    "let the other stream join the capture before the free (record an event on {} "
                    "and wait for it there), or don't record the block on it",
                    own)};
      case Why::kAllocatorWaits:
        return {", although " + own +
                    " had already waited for the last use: the allocator keeps such blocks until "
                    "the capture ends",
                AdviceToReuse()};
      case Why::kStreamIdle:
        return {": " + own + " waited for the last use, but allocated nothing afterwards",
                "let other streams take the memory (graphkit replay --allocator reuse shows what "
                "that saves), or wait for the last use earlier"};
      case Why::kFreedLate:
        return {": freed after " + own +
                    " had waited for the last use, so that the free also waits for later work on " +
                    others,
                "free it right after its last use, before the other stream goes on"};
      case Why::kNoJoin:
        return {": " + own + " never waits for the last use on " + others,
                AdviceToJoin(block, own)};
    }
    return {};
  }

  bool ReuseIsSet() const {
    return FindSetting(trace.process, "PYTORCH_ALLOC_CONF", kReuseOption) == "True";
  }

  std::string AdviceToReuse() const {
    if (ReuseIsSet()) {
      return "graph_capture_record_stream_reuse is set and doesn't reach them: allocate on their "
             "stream after the wait, or use graphkit's allocator, which reuses them on any stream";
    }
    const std::string set = SetTorchOption(trace.process, kReuseOption);
    return set.empty() ? kOldTorch : "let the allocator reuse during capture: in PyTorch, " + set;
  }

  Words OfHistory() const {
    const std::string set = SetTorchOption(trace.process, kReuseOption);
    return {
        ": other streams used it; which ones, and whether they were waited for, isn't in a "
        "memory history",
        "trace the program with graphkit trace, which sees the streams" +
            (ReuseIsSet() || set.empty() ? "" : "; " + set + " lets PyTorch reuse during capture")};
  }

  std::string AdviceToJoin(BlockId block, const std::string& own) const {
    const NodeId unjoined = FirstUnjoined(block, MarkerRule::kLastUse);
    if (!unjoined.valid()) return "wait for the other stream before the free";
    if (ReturnsWork(facts, unjoined)) return std::string(kWaitForWork) + " before the free";
    return Say(trace,
               "record an event after {} on {} and let {} wait for it before it allocates again",
               unjoined, trace[unjoined].stream, own);
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  BlockOrder at_free{facts.Blocks(MarkerRule::kAtFree)};
  Grouped recorded{Group(trace.block_streams, trace.blocks.size(),
                         [](const BlockStream& use) { return use.block; })};  // by block
  Grouped nodes{Group(trace.nodes, trace.graphs.size(),
                      [](const Node& node) { return node.graph; })};          // by graph
  std::vector<bool> histories = std::vector<bool>(GraphsOfHistories(trace));  // by graph
  std::vector<BlockId> last_block =
      std::vector<BlockId>(trace.streams.size());  // allocated on each stream, in the graph at hand
  std::vector<NodeId> last_node =
      std::vector<NodeId>(trace.streams.size());  // captured on each stream, in the graph at hand
  std::map<std::pair<Why, std::string>, Finding> by_cause = {};  // of the graph at hand
  std::vector<Finding> findings = {};
};

// The place after the last node that touches a block; its free where that isn't known.
Seq LastUse(const Facts& facts, BlockId id) {
  const BlockLife& life = facts.lives()[id];
  const Seq freed = facts.trace[id].free_requested;
  const std::span<const NodeId> touches = facts.lives().Touches(id);
  if (life.escaped || life.elsewhere || !life.freed || touches.empty()) return freed;
  return std::min(freed, facts.trace[touches.back()].seq);
}

}  // namespace

// deferred-record-stream: blocks that crossed streams, whose memory came back later than their
// owner let go.
std::vector<Finding> FindDeferredRecordStreams(const Facts& facts) {
  return DeferredBlocks{facts}.FindCauses();
}

// late-free: the peak would be lower had blocks been freed right after their last use.
std::vector<Finding> FindLateFrees(const Facts& facts) {
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const std::vector<BlockId>& blocks = facts.blocks()[graph.index()];
    std::vector<Seq> last_use;
    last_use.reserve(blocks.size());
    for (const BlockId id : blocks) last_use.push_back(LastUse(facts, id));
    const Usage& usage = facts.usage()[graph.index()];
    // Streams beside each other may need more than what is live at once.
    const Bytes least = facts.bounds().empty() ? 0 : facts.bounds()[graph.index()].bytes;
    const Bytes peak = std::max(least, PeakLive(facts.trace, blocks, last_use));
    finding->bytes = usage.peak_live - std::min(peak, usage.peak_live);
    if (!WorthANote(finding->bytes, usage)) return;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block& block = facts.trace[blocks[i]];
      const bool live = block.allocated <= usage.peak_at && usage.peak_at < block.free_requested;
      if (!live || last_use[i] > usage.peak_at) continue;
      finding->blocks.push_back(blocks[i]);
      if (finding->nodes.size() >= kShownEvidence) continue;
      const NodeId last = facts.lives().Touches(blocks[i]).back();
      finding->nodes.push_back(last);
      AddEvidence(finding,
                  Say(facts.trace, "{} was last touched by {}, before the peak", blocks[i], last),
                  facts.trace[last].stack, {last}, {blocks[i]});
      finding->evidence.push_back(AllocatedThere(facts, blocks[i]));
    }
    finding->message = Say(
        facts.trace, "the peak of {} would be {} lower if {} {} freed right after the last use",
        graph, FormatBytes(finding->bytes), ListOf(finding->blocks), Was(finding->blocks.size()));
    finding->advice = "drop the last reference to the memory right after the work that reads it";
    finding->assumes = Assumption::kArguments;
  });
}

}  // namespace graphkit
