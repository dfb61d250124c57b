// Sends whose memory a launch without order writes.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Who touches memory: a node of a launched graph, or work outside of graphs.
struct Toucher {
  GraphId graph;
  NodeId node;
  uint32_t work = kNoUse;  // in Trace::works
};

// A range of addresses that is touched.
struct Reach {
  Interval<Address> bytes;
  BlockId block;
  Toucher by;
  bool sure = true;   // of a writer: whether it is known to write
  bool word = false;  // its address is in a structure, and maybe unused
  Access access;      // from address 0
};

struct ReuseFinder {
  std::vector<Finding> FindReused() {
    Collect();
    if (all_sent.empty() || all_written.empty()) return {};
    all_written.Sort();
    for (const bool sure : {true, false}) {
      for (const Reach& sent : all_sent) Compare(sent, sure);
    }
    for (const auto& [key, more] : further) found[key].message += "; the same of " + ListOf(more);
    return TakeValues(&found);
  }

  // Who sends, who writes, whether it isn't sure that it writes, and the line that sends.
  using Key = std::tuple<GraphId, GraphId, bool, std::string>;

  void Collect() {
    const KernelSet& communicates = facts.communication();
    const auto sends = [&](const auto& work) {
      return communicates.Has(work.kernel) || CopiesOut(trace, work.kind, work.accesses);
    };
    const auto may_send = [&](const Node& node) {
      return communicates.Has(node.kernel) || node.kind == NodeKind::kMemcpy;
    };
    if (std::ranges::any_of(trace.nodes.shared(), may_send)) {
      for (const NodeId id : trace.graph_nodes)
        if (sends(trace[id])) AddNode(id, true);
    }
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      if (sends(trace.works[i])) Add({.work = i}, trace.works[i], true);
    }
    if (all_sent.empty()) return;
    for (const NodeId id : trace.graph_nodes) AddNode(id, false);
  }

  void AddNode(NodeId id, bool sends) {
    const GraphId root = facts.RootOf(id);
    if (!launches[root.index()].empty()) Add({.graph = root, .node = id}, trace[id], sends);
  }

  void Add(const Toucher& by, const auto& work, bool sends) {
    for (const Access& access : trace.accesses.Of(work.accesses)) {
      if (access.mode == (sends ? AccessMode::kWrite : AccessMode::kRead)) continue;
      const bool sure = access.mode != AccessMode::kUnknown;
      if (sends && !sure) continue;
      const Block& block = trace[access.block];
      const Reach reach{AddressesOf(access, block),
                        access.block,
                        by,
                        sure,
                        !SureAccess(trace, work.kernel, access),
                        At(access, block.address)};
      if (reach.bytes.empty()) continue;
      if (sends) all_sent.push_back(reach);
      if (!sends) all_written.Add(reach.bytes, reach);
    }
  }

  void Compare(const Reach& sent, bool sure) {
    all_written.Visit(sent.bytes, [&](Interval<Address>, const Reach& written) {
      if (written.by.graph == sent.by.graph || written.sure != sure) return;
      if (Overlap(sent.access, written.access) == Ternary::kNo) return;
      if (!compared.insert({sent.by.graph, sent.by.work, written.by.graph, sent.block}).second)
        return;
      const auto pair = Unordered(sent.by, written.by.graph);
      if (!pair) return;
      const Key key{sent.by.graph, written.by.graph, !sure, SiteOf(sent.by)};
      const auto [place, fresh] = found.try_emplace(key);
      if (fresh) Describe(sent, written, *pair, &place->second);
      const bool first_of_block = AddBlocks(sent, written, &place->second);
      if (!fresh && first_of_block) further[key].push_back(sent.block);
    });
  }

  // The line of the program that sends; none: it isn't known.
  std::string SiteOf(const Toucher& sends) const {
    const StackId stack =
        sends.work == kNoUse ? trace[sends.node].stack : trace.works[sends.work].stack;
    return OwnPlace(trace, stack);
  }

  // True if what is sent wasn't in the finding.
  bool AddBlocks(const Reach& sent, const Reach& written, Finding* finding) const {
    const bool fresh = AddOnce(sent.block, &finding->blocks);
    AddOnce(written.block, &finding->blocks);
    if (fresh) finding->bytes += Common(sent.bytes, written.bytes).size();
    return fresh;
  }

  // A launch that sends (or none, for work), and one of a graph that need not wait for it.
  std::optional<LaunchPair> Unordered(const Toucher& sends, GraphId writes) const {
    const LaunchOrder& order = facts.launch_order();
    if (sends.work == kNoUse) {
      return FindUnordered(order, trace, launches[sends.graph.index()], launches[writes.index()]);
    }
    // The launches of a graph wait for each other: the next one is enough.
    const Submission work{sends.work, true};
    const auto later = LaunchesAfter(facts, writes, trace.works[sends.work].seq);
    if (later.empty() || order.Before(work, {later[0]})) return std::nullopt;
    return LaunchPair{later[0], later[0], order.BeforeByThreads(work, {later[0]})};
  }

  std::string SenderName(const Toucher& sends) const {
    if (sends.work == kNoUse) return Say(trace, "{} of {}", sends.node, sends.graph);
    return NameOf(trace, trace.works[sends.work]);
  }

  void Describe(const Reach& sent, const Reach& written, const LaunchPair& pair,
                Finding* finding) const {
    finding->graph = written.by.graph;
    if (sent.by.node.valid()) finding->nodes.push_back(sent.by.node);
    finding->nodes.push_back(written.by.node);
    finding->severity = written.sure   ? Severity::kError
                        : written.word ? Severity::kNote
                                       : Severity::kWarning;
    finding->assumes = Assumption::kArguments;
    finding->message =
        Say(trace, "{} of {}{}{}, which {} may still be sending", written.by.node, written.by.graph,
            written.sure ? " writes over " : " may write over ", sent.block, SenderName(sent.by));
    finding->advice =
        std::string("let the later launch's stream wait for the one that sends, or ") +
        (sent.by.work == kNoUse ? "give the second graph memory of its own" : "send from a copy");
    if (pair.by_threads) DoubtThreads(finding);
    AddSender(sent.by, pair.first, finding);
    finding->streams.push_back(trace.launches[pair.second].stream);
    finding->evidence.push_back(
        LaunchedThere(trace, pair.second, written.by.graph, " need not wait for it"));
    for (const NodeId node : finding->nodes)
      finding->evidence.push_back(CapturedThere(trace, node));
    if (trace[sent.block].stack.valid()) {
      finding->evidence.push_back(AllocatedThere(facts, sent.block));
    }
  }

  void AddSender(const Toucher& sends, uint32_t launch, Finding* finding) const {
    if (sends.work == kNoUse) {
      finding->streams.push_back(trace.launches[launch].stream);
      finding->evidence.push_back(LaunchedThere(trace, launch, sends.graph));
      return;
    }
    const EagerWork& work = trace.works[sends.work];
    finding->streams.push_back(work.stream);
    AddEvidence(finding, Say(trace, "{} was submitted outside of graphs on {}", work, work.stream),
                work.stack);
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  const std::vector<std::vector<uint32_t>>& launches = facts.launches();  // by graph
  std::vector<Reach> all_sent = {};
  RangeIndex<Reach> all_written = {};
  // By who sends, the graph that writes, and what.
  std::set<std::tuple<GraphId, uint32_t, GraphId, BlockId>> compared = {};
  std::map<Key, Finding> found = {};
  std::map<Key, std::vector<BlockId>> further = {};  // beside the first one
};

}  // namespace

// send-buffer-reuse: a graph writes where another one's send or copy to the host may still read, or
// one that was submitted outside of graphs.
std::vector<Finding> FindReusedSendBuffers(const Facts& facts) {
  if (facts.trace.launches.empty()) return {};
  return ReuseFinder{facts}.FindReused();
}

}  // namespace graphkit
