// send-buffer-reuse: a graph writes where another one's send or copy to the host may still read.
#include <algorithm>
#include <map>
#include <tuple>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/communication.h"
#include "libgraphkit/analysis/launches.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

// A node of a launched graph that touches a range of addresses.
struct Reach {
  Address begin = 0;
  Address end = 0;
  GraphId graph;
  NodeId node;
  BlockId block;
};

class Finder {
 public:
  explicit Finder(const Facts& facts)
      : facts_(facts), trace_(facts.trace), launches_(LaunchesByGraph(facts.trace)) {}

  std::vector<Finding> Find() {
    Collect();
    if (sent_.empty() || written_.empty()) return {};
    const LaunchOrder order(trace_);
    std::sort(written_.begin(), written_.end(),
              [](const Reach& a, const Reach& b) { return a.begin < b.begin; });
    for (const Reach& sent : sent_) Compare(order, sent);
    std::vector<Finding> findings;
    for (auto& [key, finding] : found_) findings.push_back(std::move(finding));
    return findings;
  }

 private:
  bool Launched(GraphId root) const { return !launches_[root.index()].empty(); }

  void Collect() {
    const std::vector<bool> communicates = CommunicationKernels(trace_);
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node& node = trace_.nodes[i];
      const bool sends =
          node.kernel.index() < communicates.size() && communicates[node.kernel.index()];
      if ((sends || CopiesOut(trace_, NodeId(i))) && InGraph(trace_, node)) Add(NodeId(i), true);
    }
    if (sent_.empty()) return;
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      if (InGraph(trace_, trace_.nodes[i])) Add(NodeId(i), false);
    }
  }

  void Add(NodeId id, bool sends) {
    const Node& node = trace_[id];
    const GraphId root = facts_.roots[node.graph.index()];
    if (!Launched(root)) return;
    for (uint32_t i = node.accesses.first; i < node.accesses.first + node.accesses.count; ++i) {
      const Access& access = trace_.accesses[i];
      const bool reads = access.mode == AccessMode::kRead || access.mode == AccessMode::kReadWrite;
      const bool writes =
          access.mode == AccessMode::kWrite || access.mode == AccessMode::kReadWrite;
      if (!(sends ? reads : writes)) continue;
      const Block& block = trace_[access.block];
      const Address begin = block.address + access.offset;
      const Bytes length = access.length == kLengthUnknown
                               ? block.size - std::min(block.size, access.offset)
                               : access.length;
      if (length == 0) continue;
      (sends ? sent_ : written_).push_back({begin, begin + length, root, id, access.block});
      longest_ = std::max(longest_, length);
    }
  }

  void Compare(const LaunchOrder& order, const Reach& sent) {
    const Address from = sent.begin - std::min(sent.begin, longest_);
    auto at =
        std::lower_bound(written_.begin(), written_.end(), from,
                         [](const Reach& reach, Address value) { return reach.begin < value; });
    for (; at != written_.end() && at->begin < sent.end; ++at) {
      const std::tuple key{sent.graph, at->graph, sent.block};
      if (at->end <= sent.begin || at->graph == sent.graph || found_.contains(key)) continue;
      const auto pair =
          FindUnordered(order, trace_, launches_[sent.graph.index()], launches_[at->graph.index()]);
      if (pair) Describe(sent, *at, *pair, &found_[key]);
    }
  }

  void Describe(const Reach& sent, const Reach& written, const LaunchPair& pair,
                Finding* finding) const {
    finding->graph = written.graph;
    finding->nodes = {sent.node, written.node};
    finding->blocks = {sent.block};
    if (written.block != sent.block) finding->blocks.push_back(written.block);
    finding->bytes = std::min(sent.end, written.end) - std::max(sent.begin, written.begin);
    finding->assumes = Assumption::kArguments;
    finding->message = NameOf(trace_, written.node) + " of " + NameOf(trace_, written.graph) +
                       " writes over " + NameOf(trace_, sent.block) + ", which " +
                       NameOf(trace_, sent.node) + " of " + NameOf(trace_, sent.graph) +
                       " may still be sending";
    finding->advice =
        "let the later launch's stream wait for the one that sends, or give the "
        "second graph memory of its own";
    for (const auto& [launch, graph] :
         {std::pair{pair.first, sent.graph}, std::pair{pair.second, written.graph}}) {
      finding->streams.push_back(trace_.launches[launch].stream);
      finding->evidence.push_back({.text = LaunchText(trace_, launch, graph)});
    }
    finding->evidence.back().text += " need not wait for it";
  }

  const Facts& facts_;
  const Trace& trace_;
  std::vector<std::vector<uint32_t>> launches_;  // by graph
  std::vector<Reach> sent_;
  std::vector<Reach> written_;
  Bytes longest_ = 0;
  std::map<std::tuple<GraphId, GraphId, BlockId>, Finding> found_;
};

}  // namespace

std::vector<Finding> FindReusedSendBuffers(const Facts& facts) {
  if (facts.trace.launches.empty()) return {};
  return Finder(facts).Find();
}

}  // namespace graphkit
