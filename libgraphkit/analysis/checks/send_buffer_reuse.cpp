// send-buffer-reuse: a graph writes where another one's send or copy to the host may still read, or
// one that was submitted outside of graphs.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/model/access_overlap.h"

namespace graphkit {
namespace {

constexpr uint32_t kNoWork = 0xffffffffu;

// Who touches memory: a node of a launched graph, or work outside of graphs.
struct Toucher {
  GraphId graph;
  NodeId node;
  uint32_t work = kNoWork;  // in Trace::works
};

// A range of addresses that is touched.
struct Reach {
  Address begin = 0;
  Address end = 0;
  BlockId block;
  Toucher by;
  bool sure = true;  // of a writer: whether it is known to write
  Access access;     // from address 0
};

class ReuseFinder {
 public:
  explicit ReuseFinder(const Facts& facts)
      : facts_(facts), trace_(facts.trace), launches_(facts.launches()) {}

  std::vector<Finding> FindReused() {
    Collect();
    if (sent_.empty() || written_.empty()) return {};
    const LaunchOrder& order = facts_.launch_order();
    std::ranges::sort(written_, {}, &Reach::begin);
    for (const bool sure : {true, false}) {
      for (const Reach& sent : sent_) Compare(order, sent, sure);
    }
    for (const auto& [key, more] : more_) found_[key].message += "; the same of " + ListOf(more);
    return TakeValues(&found_);
  }

 private:
  // Who sends, who writes, whether it isn't sure that it writes, and the line that sends.
  using Key = std::tuple<GraphId, GraphId, bool, std::string>;

  bool Launched(GraphId root) const { return !launches_[root.index()].empty(); }

  void Collect() {
    const KernelSet& communicates = facts_.communication();
    const auto sends = [&](const auto& work) {
      return communicates.Has(work.kernel) || CopiesOut(trace_, work.kind, work.accesses);
    };
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node& node = trace_.nodes[i];
      if (sends(node) && InGraph(trace_, node)) AddNode(NodeId(i), true);
    }
    for (uint32_t i = 0; i < trace_.works.size(); ++i) {
      if (sends(trace_.works[i])) Add({.work = i}, trace_.works[i].accesses, true);
    }
    if (sent_.empty()) return;
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      if (InGraph(trace_, trace_.nodes[i])) AddNode(NodeId(i), false);
    }
  }

  void AddNode(NodeId id, bool sends) {
    const GraphId root = facts_.RootOf(id);
    if (Launched(root)) Add({.graph = root, .node = id}, trace_[id].accesses, sends);
  }

  void Add(const Toucher& by, Slice accesses, bool sends) {
    for (const Access& access : trace_.accesses.Of(accesses)) {
      if (access.mode == (sends ? AccessMode::kWrite : AccessMode::kRead)) continue;
      const bool sure = access.mode != AccessMode::kUnknown;
      if (sends && !sure) continue;
      const Block& block = trace_[access.block];
      const Address begin = block.address + access.offset;
      const Bytes length = access.length == kLengthUnknown
                               ? block.size - std::min(block.size, access.offset)
                               : access.length;
      if (length == 0) continue;
      (sends ? sent_ : written_)
          .push_back({begin, begin + length, access.block, by, sure, At(access, block.address)});
      longest_ = std::max(longest_, length);
    }
  }

  void Compare(const LaunchOrder& order, const Reach& sent, bool sure) {
    const Address from = sent.begin - std::min(sent.begin, longest_);
    auto at = std::ranges::lower_bound(written_, from, {}, &Reach::begin);
    for (; at != written_.end() && at->begin < sent.end; ++at) {
      if (at->end <= sent.begin || at->by.graph == sent.by.graph || at->sure != sure) continue;
      if (Overlap(sent.access, at->access) == Ternary::kNo) continue;
      if (!compared_.insert({sent.by.graph, sent.by.work, at->by.graph, sent.block}).second) {
        continue;
      }
      const auto pair = Unordered(order, sent.by, at->by.graph);
      if (!pair) continue;
      const Key key{sent.by.graph, at->by.graph, !sure, SiteOf(sent.by)};
      const auto [place, fresh] = found_.try_emplace(key);
      if (fresh) Describe(sent, *at, *pair, &place->second);
      const bool first_of_block = AddBlocks(sent, *at, &place->second);
      if (!fresh && first_of_block) more_[key].push_back(sent.block);
    }
  }

  // The line of the program that sends; none: it isn't known.
  std::string SiteOf(const Toucher& sends) const {
    const StackId stack =
        sends.work == kNoWork ? trace_[sends.node].stack : trace_.works[sends.work].stack;
    const CallSite site = CallSiteOf(trace_, stack);
    return site.own ? PlaceOfFrame(trace_, *site.own) : std::string();
  }

  // True if what is sent wasn't in the finding.
  bool AddBlocks(const Reach& sent, const Reach& written, Finding* finding) const {
    const bool fresh = AddOnce(sent.block, &finding->blocks);
    AddOnce(written.block, &finding->blocks);
    if (fresh) {
      finding->bytes += std::min(sent.end, written.end) - std::max(sent.begin, written.begin);
    }
    return fresh;
  }

  // A launch that sends (or none, for work), and one of a graph that need not wait for it.
  std::optional<LaunchPair> Unordered(const LaunchOrder& order, const Toucher& sends,
                                      GraphId writes) const {
    const std::vector<uint32_t>& later = launches_[writes.index()];
    if (sends.work == kNoWork) {
      return FindUnordered(order, trace_, launches_[sends.graph.index()], later);
    }
    // The launches of a graph wait for each other: the next one is enough.
    const auto next =
        std::ranges::upper_bound(later, trace_.works[sends.work].seq, {},
                                 [&](uint32_t at) { return trace_.launches[at].seq; });
    if (next == later.end() || order.WorkBefore(sends.work, *next)) return std::nullopt;
    return LaunchPair{*next, *next, order.WorkBeforeByThreads(sends.work, *next)};
  }

  std::string SenderName(const Toucher& sends) const {
    if (sends.work == kNoWork)
      return NameOf(trace_, sends.node) + " of " + NameOf(trace_, sends.graph);
    return NameOf(trace_, trace_.works[sends.work]);
  }

  void Describe(const Reach& sent, const Reach& written, const LaunchPair& pair,
                Finding* finding) const {
    finding->graph = written.by.graph;
    if (sent.by.node.valid()) finding->nodes.push_back(sent.by.node);
    finding->nodes.push_back(written.by.node);
    finding->severity = written.sure ? Severity::kError : Severity::kWarning;
    finding->assumes = Assumption::kArguments;
    finding->message = NameOf(trace_, written.by.node) + " of " + NameOf(trace_, written.by.graph) +
                       (written.sure ? " writes over " : " may write over ") +
                       NameOf(trace_, sent.block) + ", which " + SenderName(sent.by) +
                       " may still be sending";
    finding->advice =
        std::string("let the later launch's stream wait for the one that sends, or ") +
        (sent.by.work == kNoWork ? "give the second graph memory of its own" : "send from a copy");
    if (pair.by_threads) DoubtThreads(finding);
    AddSender(sent.by, pair.first, finding);
    finding->streams.push_back(trace_.launches[pair.second].stream);
    finding->evidence.push_back(
        {.text = LaunchText(trace_, pair.second, written.by.graph) + " need not wait for it"});
    if (trace_[sent.block].stack.valid()) {
      finding->evidence.push_back(AllocatedThere(facts_, sent.block));
    }
  }

  void AddSender(const Toucher& sends, uint32_t launch, Finding* finding) const {
    if (sends.work == kNoWork) {
      finding->streams.push_back(trace_.launches[launch].stream);
      finding->evidence.push_back({.text = LaunchText(trace_, launch, sends.graph)});
      return;
    }
    const EagerWork& work = trace_.works[sends.work];
    finding->streams.push_back(work.stream);
    finding->evidence.push_back({.text = NameOf(trace_, work) +
                                         " was submitted outside of graphs on " +
                                         NameOf(trace_, work.stream),
                                 .stack = work.stack});
  }

  const Facts& facts_;
  const Trace& trace_;
  const std::vector<std::vector<uint32_t>>& launches_;  // by graph
  std::vector<Reach> sent_;
  std::vector<Reach> written_;
  Bytes longest_ = 0;
  // By who sends, the graph that writes, and what.
  std::set<std::tuple<GraphId, uint32_t, GraphId, BlockId>> compared_;
  std::map<Key, Finding> found_;
  std::map<Key, std::vector<BlockId>> more_;  // beside the first one
};

}  // namespace

std::vector<Finding> FindReusedSendBuffers(const Facts& facts) {
  if (facts.trace.launches.empty()) return {};
  return ReuseFinder(facts).FindReused();
}

}  // namespace graphkit
