// Checks of memory that launches without order use.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {
namespace {

// send-buffer-reuse: a graph writes where another one's send or copy to the host may still read, or
// one that was submitted outside of graphs.

constexpr uint32_t kNoWork = 0xffffffffu;

// Who touches memory: a node of a launched graph, or work outside of graphs.
struct Toucher {
  GraphId graph;
  NodeId node;
  uint32_t work = kNoWork;  // in Trace::works
};

// A range of addresses that is touched.
struct Reach {
  Interval<Address> bytes;
  BlockId block;
  Toucher by;
  bool sure = true;  // of a writer: whether it is known to write
  Access access;     // from address 0
};

struct ReuseFinder {
  std::vector<Finding> FindReused() {
    Collect();
    if (all_sent.empty() || all_written.empty()) return {};
    const LaunchOrder& order = facts.launch_order();
    all_written.Sort();
    for (const bool sure : {true, false}) {
      for (const Reach& sent : all_sent) Compare(order, sent, sure);
    }
    for (const auto& [key, more] : further) found[key].message += "; the same of " + ListOf(more);
    return TakeValues(&found);
  }

  // Who sends, who writes, whether it isn't sure that it writes, and the line that sends.
  using Key = std::tuple<GraphId, GraphId, bool, std::string>;

  bool Launched(GraphId root) const { return !launches[root.index()].empty(); }

  void Collect() {
    const KernelSet& communicates = facts.communication();
    const auto sends = [&](const auto& work) {
      return communicates.Has(work.kernel) || CopiesOut(trace, work.kind, work.accesses);
    };
    for (const auto& [i, node] : Enumerate(trace.nodes)) {
      if (sends(node) && InGraph(trace, node)) AddNode(NodeId(i), true);
    }
    for (uint32_t i = 0; i < trace.works.size(); ++i) {
      if (sends(trace.works[i])) Add({.work = i}, trace.works[i].accesses, true);
    }
    if (all_sent.empty()) return;
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      if (InGraph(trace, trace.nodes[i])) AddNode(NodeId(i), false);
    }
  }

  void AddNode(NodeId id, bool sends) {
    const GraphId root = facts.RootOf(id);
    if (Launched(root)) Add({.graph = root, .node = id}, trace[id].accesses, sends);
  }

  void Add(const Toucher& by, Slice accesses, bool sends) {
    for (const Access& access : trace.accesses.Of(accesses)) {
      if (access.mode == (sends ? AccessMode::kWrite : AccessMode::kRead)) continue;
      const bool sure = access.mode != AccessMode::kUnknown;
      if (sends && !sure) continue;
      const Block& block = trace[access.block];
      const Interval<Bytes> bytes = BytesOf(access, block.size);
      if (bytes.empty()) continue;
      const Reach reach{{block.address + bytes.begin, block.address + bytes.end},
                        access.block,
                        by,
                        sure,
                        At(access, block.address)};
      if (sends) all_sent.push_back(reach);
      if (!sends) all_written.Add(reach.bytes, reach);
    }
  }

  void Compare(const LaunchOrder& order, const Reach& sent, bool sure) {
    all_written.Visit(sent.bytes, [&](Interval<Address>, const Reach& written) {
      if (written.by.graph == sent.by.graph || written.sure != sure) return;
      if (Overlap(sent.access, written.access) == Ternary::kNo) return;
      if (!compared.insert({sent.by.graph, sent.by.work, written.by.graph, sent.block}).second)
        return;
      const auto pair = Unordered(order, sent.by, written.by.graph);
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
        sends.work == kNoWork ? trace[sends.node].stack : trace.works[sends.work].stack;
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
  std::optional<LaunchPair> Unordered(const LaunchOrder& order, const Toucher& sends,
                                      GraphId writes) const {
    const std::vector<uint32_t>& later = launches[writes.index()];
    if (sends.work == kNoWork) {
      return FindUnordered(order, trace, launches[sends.graph.index()], later);
    }
    // The launches of a graph wait for each other: the next one is enough.
    const auto next = std::ranges::upper_bound(later, trace.works[sends.work].seq, {},
                                               [&](uint32_t at) { return trace.launches[at].seq; });
    if (next == later.end() || order.WorkBefore(sends.work, *next)) return std::nullopt;
    return LaunchPair{*next, *next, order.WorkBeforeByThreads(sends.work, *next)};
  }

  std::string SenderName(const Toucher& sends) const {
    if (sends.work == kNoWork) return Say(trace, "{} of {}", sends.node, sends.graph);
    return NameOf(trace, trace.works[sends.work]);
  }

  void Describe(const Reach& sent, const Reach& written, const LaunchPair& pair,
                Finding* finding) const {
    finding->graph = written.by.graph;
    if (sent.by.node.valid()) finding->nodes.push_back(sent.by.node);
    finding->nodes.push_back(written.by.node);
    finding->severity = written.sure ? Severity::kError : Severity::kWarning;
    finding->assumes = Assumption::kArguments;
    finding->message =
        Say(trace, "{} of {}{}{}, which {} may still be sending", written.by.node, written.by.graph,
            written.sure ? " writes over " : " may write over ", sent.block, SenderName(sent.by));
    finding->advice =
        std::string("let the later launch's stream wait for the one that sends, or ") +
        (sent.by.work == kNoWork ? "give the second graph memory of its own" : "send from a copy");
    if (pair.by_threads) DoubtThreads(finding);
    AddSender(sent.by, pair.first, finding);
    finding->streams.push_back(trace.launches[pair.second].stream);
    AddEvidence(finding,
                LaunchText(trace, pair.second, written.by.graph) + " need not wait for it");
    if (trace[sent.block].stack.valid()) {
      finding->evidence.push_back(AllocatedThere(facts, sent.block));
    }
  }

  void AddSender(const Toucher& sends, uint32_t launch, Finding* finding) const {
    if (sends.work == kNoWork) {
      finding->streams.push_back(trace.launches[launch].stream);
      AddEvidence(finding, LaunchText(trace, launch, sends.graph));
      return;
    }
    const EagerWork& work = trace.works[sends.work];
    finding->streams.push_back(work.stream);
    AddEvidence(finding, Say(trace, "{} was submitted outside of graphs on {}", work, work.stream),
                work.stack);
  }

  const Facts& facts;
  const Trace& trace = facts.trace;
  const std::vector<std::vector<uint32_t>>& launches = facts.launches();  // by graph
  std::vector<Reach> all_sent = {};
  RangeIndex<Reach> all_written = {};
  // By who sends, the graph that writes, and what.
  std::set<std::tuple<GraphId, uint32_t, GraphId, BlockId>> compared = {};
  std::map<Key, Finding> found = {};
  std::map<Key, std::vector<BlockId>> further = {};  // beside the first one
};

// A launched graph that touches a block, and may write it.
struct User {
  GraphId graph;
  NodeId node;
  bool surely_writes = false;
  std::vector<Interval<Bytes>> writes = {};  // of the block, or may
};

bool WriteTheSame(const User& a, const User& b) {
  return std::ranges::any_of(a.writes, [&](const Interval<Bytes>& bytes) {
    return std::ranges::any_of(b.writes, [&](const auto& other) { return Overlaps(bytes, other); });
  });
}

// `users`: those of the block.
void FindUsers(const Facts& facts, BlockId id, std::vector<User>* users) {
  users->clear();
  const auto root_of = [&](NodeId node) { return facts.RootOf(node); };
  const std::span<const NodeId> touches = facts.lives().Touches(id);
  const auto elsewhere = [&](const NodeId touch) { return root_of(touch) != root_of(touches[0]); };
  if (std::ranges::none_of(touches, elsewhere)) return;  // mostly; then there is one at most
  ForEachAccess(facts.trace, facts.lives(), id, [&](NodeId node, const Access& access) {
    const GraphId root = root_of(node);
    if (access.mode == AccessMode::kRead || facts.launches()[root.index()].empty()) return;
    auto user =
        std::ranges::find_if(*users, [&](const User& other) { return other.graph == root; });
    if (user == users->end()) user = users->insert(users->end(), {root, node});
    user->surely_writes = user->surely_writes || access.mode != AccessMode::kUnknown;
    const Interval<Bytes> bytes = BytesOf(access, facts.trace[id].size);
    if (std::ranges::find(user->writes, bytes) == user->writes.end()) user->writes.push_back(bytes);
  });
}

// Two users whose launches aren't ordered, and the blocks that both touch.
struct SharedBlocks {
  User first;
  User second;
  LaunchPair launches;
  Finding finding = {};
};

Finding Describe(const Trace& trace, SharedBlocks shared) {
  const auto& [first, second, launches, found] = shared;
  Finding* finding = &shared.finding;
  finding->graph = second.graph;
  finding->nodes = {first.node, second.node};
  finding->severity =
      first.surely_writes && second.surely_writes ? Severity::kError : Severity::kNote;
  finding->assumes = Assumption::kArguments;
  finding->message =
      Say(trace, "{} and {} {} {}, and were launched without order", first.graph, second.graph,
          finding->severity == Severity::kError ? "both write" : "may both write",
          BlocksText(*finding));
  finding->advice =
      "give each graph a workspace of its own (for cuBLAS: one handle and stream for each), or "
      "order the launches";
  AddEvidence(finding, LaunchText(trace, launches.first, first.graph),
              trace[finding->blocks.front()].stack, {first.node}, finding->blocks);
  AddEvidence(finding, LaunchText(trace, launches.second, second.graph) + " isn't ordered with it",
              {}, {second.node});
  if (launches.by_threads) DoubtThreads(finding);
  return std::move(shared.finding);
}

// Launches of two graphs, in either order, of which the later one isn't after the earlier one's
// end; found once for each pair.
struct UnorderedGraphs {
  std::optional<LaunchPair> Of(GraphId a, GraphId b) {
    const auto [pair, fresh] = known.try_emplace({a, b});
    if (!fresh) return pair->second;
    const auto &of_a = facts.launches()[a.index()], &of_b = facts.launches()[b.index()];
    pair->second = FindUnordered(facts.launch_order(), facts.trace, of_a, of_b);
    if (pair->second && !pair->second->by_threads) return pair->second;
    const auto swapped = FindUnordered(facts.launch_order(), facts.trace, of_b, of_a);
    if (swapped && (!pair->second || !swapped->by_threads)) {
      pair->second = {swapped->second, swapped->first, swapped->by_threads};
    }
    return pair->second;
  }

  const Facts& facts;
  std::map<std::pair<GraphId, GraphId>, std::optional<LaunchPair>> known = {};
};

// Bytes that two graphs of one pool allocate at the same addresses.
struct SharedPools {
  // One for each pool: of the two graphs that share the most.
  std::vector<Finding> FindPairs() {
    std::vector<Finding> findings;
    for (auto& [pool, graphs] : GraphsByPool(facts)) {
      std::erase_if(graphs, [&](GraphId id) { return facts.launches()[id.index()].empty(); });
      Finding finding;
      size_t compared = 0, pairs = 0;
      for (size_t b = 1; b < graphs.size(); ++b) {
        for (size_t a = 0; a < b && compared < kMostPairs; ++a, ++compared) {
          const auto pair = unordered->Of(graphs[a], graphs[b]);
          if (pair && TakeLarger(pool, graphs[a], graphs[b], *pair, &finding)) ++pairs;
        }
      }
      if (pairs == 0) continue;
      if (pairs > 1)
        finding.message += "; so were " + Counted(pairs - 1, "more pair") + " of its graphs";
      findings.push_back(std::move(finding));
    }
    return findings;
  }

  static constexpr size_t kMostPairs = 1000;  // of graphs that share a pool

  // The graph's touched blocks of the pool, by address.
  std::vector<BlockId> BlocksOf(GraphId graph, PoolId pool) const {
    std::vector<BlockId> blocks;
    for (const BlockId block : facts.blocks()[graph.index()]) {
      if (trace[block].pool == pool && !facts.lives().Touches(block).empty()) {
        blocks.push_back(block);
      }
    }
    std::ranges::sort(blocks, {}, [&](BlockId id) { return trace[id].address; });
    return blocks;
  }

  // False: they share nothing.
  bool TakeLarger(PoolId pool, GraphId a, GraphId b, const LaunchPair& launches,
                  Finding* finding) const {
    const std::vector<BlockId> of_a = BlocksOf(a, pool), of_b = BlocksOf(b, pool);
    Address counted = 0;  // up to here
    Bytes bytes = 0, most = 0;
    std::pair<BlockId, BlockId> largest;
    for (const BlockId x : of_a) {
      for (const BlockId y : of_b) {
        const Interval<Address> own = AddressesOf(trace[x]), other = AddressesOf(trace[y]);
        if (other.begin >= own.end) break;
        const Interval<Address> both = Common(own, other);
        if (both.empty()) continue;
        if (both.size() > most) most = both.size(), largest = {x, y};
        if (both.end > counted)
          bytes += both.end - std::max(both.begin, counted), counted = both.end;
      }
    }
    if (bytes > finding->bytes) *finding = Describe(pool, {a, b}, largest, launches, bytes);
    return bytes > 0;
  }

  Finding Describe(PoolId pool, std::pair<GraphId, GraphId> graphs,
                   std::pair<BlockId, BlockId> largest, const LaunchPair& launches,
                   Bytes bytes) const {
    Finding finding{.severity = Severity::kError,
                    .bytes = bytes,
                    .graph = graphs.second,
                    .blocks = {largest.first, largest.second}};
    finding.message =
        Say(trace,
            "{} and {} both work in {} of pool {}, which they share, and were launched "
            "without order",
            graphs.first, graphs.second, FormatBytes(bytes), pool.value);
    finding.advice = "give graphs that may run at once a pool each, or order the launches";
    finding.evidence = {
        {.text = LaunchText(trace, launches.first, graphs.first)},
        {.text = LaunchText(trace, launches.second, graphs.second) + " isn't ordered with it"},
        AllocatedThere(facts, largest.first),
        AllocatedThere(facts, largest.second)};
    if (launches.by_threads) DoubtThreads(&finding);
    return finding;
  }

  const Facts& facts;
  UnorderedGraphs* unordered;
  const Trace& trace = facts.trace;
};

}  // namespace

// send-buffer-reuse: a graph writes where another one's send or copy to the host may still read, or
// one that was submitted outside of graphs.
std::vector<Finding> FindReusedSendBuffers(const Facts& facts) {
  if (facts.trace.launches.empty()) return {};
  return ReuseFinder{facts}.FindReused();
}

// shared-workspace: memory that several graphs write, launched without order; blocks of both, or
// the pool that they share.
std::vector<Finding> FindSharedWorkspaces(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.launches.size() < 2) return {};
  const auto launched = std::ranges::count_if(
      facts.launches(), [](const auto& of_graph) { return !of_graph.empty(); });
  if (launched < 2) return {};
  UnorderedGraphs unordered{facts};
  std::map<std::tuple<GraphId, GraphId, bool>, SharedBlocks> found;
  std::vector<User> users;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    FindUsers(facts, BlockId(i), &users);
    for (size_t b = 1; b < users.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (!WriteTheSame(users[a], users[b])) continue;
        const auto pair = unordered.Of(users[a].graph, users[b].graph);
        if (!pair) continue;
        const bool sure = users[a].surely_writes && users[b].surely_writes;
        const auto at = found.try_emplace({users[a].graph, users[b].graph, sure},
                                          SharedBlocks{users[a], users[b], *pair});
        AddBlock(trace, BlockId(i), &at.first->second.finding);
      }
    }
  }
  std::vector<Finding> findings = SharedPools{facts, &unordered}.FindPairs();
  for (auto& [key, shared] : found) findings.push_back(Describe(trace, std::move(shared)));
  return findings;
}

}  // namespace graphkit
