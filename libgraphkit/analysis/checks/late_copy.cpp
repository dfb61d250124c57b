// late-copy: a copy to the host, outside of graphs, that the next launch of a graph may overtake.
#include <algorithm>
#include <set>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/launches.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {
namespace {

constexpr size_t kLaunchesLookedAt = 8;  // of a graph, after a copy

// Bytes that a copy reads, or that a node of a launched graph writes.
struct Reach {
  Address begin = 0;
  Address end = 0;
  BlockId block;
  NodeId node = {};    // that writes them
  GraphId graph = {};  // its root
};

class Finder {
 public:
  explicit Finder(const Facts& facts)
      : facts_(facts), trace_(facts.trace), launches_(LaunchesByGraph(facts.trace)) {}

  std::vector<Finding> Find() {
    CollectWritten();
    if (written_.empty()) return {};
    const LaunchOrder order(trace_);
    for (uint32_t i = 0; i < trace_.copies.size(); ++i) Look(order, i);
    return std::move(findings_);
  }

 private:
  bool OnHost(BlockId block) const {
    const PoolId pool = trace_[block].pool;
    return pool.valid() && trace_[pool].kind == PoolKind::kHost;
  }

  Reach ReachOf(const Access& access) const {
    const Block& block = trace_[access.block];
    const Address begin = block.address + access.offset;
    const Bytes rest = block.size - std::min(block.size, access.offset);
    return {begin, begin + std::min(access.length, rest), access.block};
  }

  void CollectWritten() {
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      const Node& node = trace_.nodes[i];
      if (!InGraph(trace_, node)) continue;
      const GraphId root = facts_.roots[node.graph.index()];
      if (launches_[root.index()].empty()) continue;
      for (const Access& access : AccessesOf(node.accesses)) {
        if (access.mode != AccessMode::kWrite && access.mode != AccessMode::kReadWrite) continue;
        Reach& reach = written_.emplace_back(ReachOf(access));
        reach.node = NodeId(i);
        reach.graph = root;
        longest_ = std::max(longest_, reach.end - reach.begin);
      }
    }
    std::ranges::sort(written_, {}, &Reach::begin);
  }

  std::span<const Access> AccessesOf(const Slice& slice) const {
    return std::span(trace_.accesses).subspan(slice.first, slice.count);
  }

  // A copy to pageable memory has ended when the call returns; so only pinned memory counts.
  void Look(const LaunchOrder& order, uint32_t copy) {
    const auto accesses = AccessesOf(trace_.copies[copy].accesses);
    const bool to_host = std::ranges::any_of(accesses, [&](const Access& access) {
      return access.mode == AccessMode::kWrite && OnHost(access.block);
    });
    if (!to_host) return;
    for (const Access& access : accesses) {
      if (access.mode == AccessMode::kRead && !OnHost(access.block)) {
        Compare(order, copy, ReachOf(access));
      }
    }
  }

  void Compare(const LaunchOrder& order, uint32_t copy, const Reach& source) {
    const Address from = source.begin - std::min(source.begin, longest_);
    for (auto at = std::ranges::lower_bound(written_, from, {}, &Reach::begin);
         at != written_.end() && at->begin < source.end; ++at) {
      if (at->end <= source.begin || found_.contains({at->graph, source.block})) continue;
      const std::optional<uint32_t> launch = Overtaking(order, copy, at->graph);
      if (!launch) continue;
      found_.insert({at->graph, source.block});
      Describe(copy, source, *at, *launch);
    }
  }

  std::optional<uint32_t> Overtaking(const LaunchOrder& order, uint32_t copy, GraphId graph) const {
    const std::vector<uint32_t>& launches = launches_[graph.index()];
    auto at = std::ranges::upper_bound(launches, trace_.copies[copy].seq, {},
                                       [&](uint32_t l) { return trace_.launches[l].seq; });
    for (size_t i = 0; i < kLaunchesLookedAt && at != launches.end(); ++i, ++at) {
      if (!order.CopyBefore(copy, *at)) return *at;
    }
    return {};
  }

  void Describe(uint32_t copy, const Reach& source, const Reach& written, uint32_t launch) {
    Finding& finding = findings_.emplace_back();
    finding.graph = written.graph;
    finding.nodes = {written.node};
    finding.blocks = {source.block};
    if (written.block != source.block) finding.blocks.push_back(written.block);
    finding.streams = {trace_.copies[copy].stream, trace_.launches[launch].stream};
    finding.bytes = std::min(source.end, written.end) - std::max(source.begin, written.begin);
    finding.assumes = Assumption::kArguments;
    finding.message = NameOf(trace_, written.node) + " of " + NameOf(trace_, written.graph) +
                      " may write over " + NameOf(trace_, source.block) + " while " +
                      NameOf(trace_, trace_.copies[copy].stream) + " still copies it to the host";
    finding.advice =
        "let the launch's stream wait for an event after the copy, or copy from a second buffer";
    finding.evidence.push_back(
        {.text = LaunchText(trace_, launch, written.graph) + " need not wait for the copy"});
  }

  const Facts& facts_;
  const Trace& trace_;
  std::vector<std::vector<uint32_t>> launches_;  // by graph
  std::vector<Reach> written_;                   // by begin
  Bytes longest_ = 0;
  std::set<std::pair<GraphId, BlockId>> found_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindLateCopies(const Facts& facts) {
  if (facts.trace.copies.empty() || facts.trace.launches.empty()) return {};
  return Finder(facts).Find();
}

}  // namespace graphkit
