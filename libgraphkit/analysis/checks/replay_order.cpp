// replay-order: graphs of one pool launched in another order than captured.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr size_t kMostPairs = 1000;  // of graphs that share a pool

constexpr char kAdvice[] =
    "launch graphs that share a pool in the order of their captures, or read or copy what a graph "
    "leaves before the next launch";

bool Share(const Block& a, const Block& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

class OrderFinder {
 public:
  explicit OrderFinder(const Facts& facts)
      : facts_(facts), trace_(facts.trace), first_launch_(trace_.graphs.size(), kNever) {
    for (size_t i = 0; i < first_launch_.size(); ++i) {
      const std::vector<uint32_t>& own = facts.launches()[i];
      if (!own.empty()) first_launch_[i] = trace_.launches[own.front()].seq;
    }
  }

  std::vector<Finding> FindReordered() {
    for (const auto& [pool, graphs] : LaunchedByPool()) LookAt(graphs);
    return std::move(findings_);
  }

 private:
  // Launched graphs, in capture order.
  std::map<PoolId, std::vector<GraphId>> LaunchedByPool() const {
    std::map<PoolId, std::vector<GraphId>> by_pool;
    for (size_t graph = 0; graph < facts_.blocks().size(); ++graph) {
      if (first_launch_[graph] == kNever || facts_.blocks()[graph].empty()) continue;
      const PoolId pool = trace_[facts_.blocks()[graph].front()].pool;
      if (pool.valid() && trace_[pool].kind == PoolKind::kPrivate)
        by_pool[pool].emplace_back(graph);
    }
    return by_pool;
  }

  void LookAt(const std::vector<GraphId>& graphs) {
    Finding unread;
    unread.severity = Severity::kNote;
    for (size_t later = 1; later < graphs.size(); ++later) {
      for (size_t earlier = 0; earlier < later && pairs_ < kMostPairs; ++earlier) {
        const GraphId a = graphs[earlier], b = graphs[later];
        if (first_launch_[a.index()] < first_launch_[b.index()]) continue;
        ++pairs_;
        AddPair(a, b, &unread);
      }
    }
    if (unread.blocks.empty()) return;
    unread.message = "graphs that share a pool, " + NameOf(trace_, unread.graph) +
                     " first, were launched after ones that were captured later, and write over " +
                     BlocksText(unread) + ", which those leave; no other graph reads it";
    unread.advice = kAdvice;
    findings_.push_back(std::move(unread));
  }

  // Blocks that the later capture leaves behind, where the earlier one writes.
  void AddPair(GraphId a, GraphId b, Finding* unread) {
    Finding finding;
    finding.severity = Severity::kWarning;
    finding.graph = a;
    for (const BlockId left : facts_.blocks()[b.index()]) {
      if (facts_.lives()[left].freed) continue;
      const auto over = [&](BlockId id) { return Share(trace_[id], trace_[left]); };
      if (std::ranges::none_of(facts_.blocks()[a.index()], over)) continue;
      Finding* into = ReadSpoilt(a, b, left) ? &finding : unread;
      if (!into->graph.valid()) into->graph = a;
      if (!AddOnce(left, &into->blocks)) continue;
      into->bytes += RoundedSize(trace_[left]);
      if (into->evidence.size() < kShownEvidence && trace_[left].stack.valid()) {
        into->evidence.push_back(AllocatedThere(facts_, left));
      }
    }
    if (finding.blocks.empty()) return;
    finding.message = NameOf(trace_, a) + " was captured before " + NameOf(trace_, b) +
                      " in the same pool and launched after it: it writes over " +
                      BlocksText(finding) +
                      ", which that one leaves, and another graph reads it then";
    finding.advice = kAdvice;
    findings_.push_back(std::move(finding));
  }

  // True if a graph that touches what `b` left is launched after `a` wrote over it, and before `b`
  // makes it anew.
  bool ReadSpoilt(GraphId a, GraphId b, BlockId left) const {
    std::vector<GraphId> readers;
    for (const Touch& touch : facts_.lives().Touches(left)) {
      const GraphId root = facts_.RootOf(touch.node);
      if (root != a && root != b) readers.push_back(root);
    }
    if (readers.empty()) return false;
    bool made = false, spoilt = false;
    for (const GraphId graph : facts_.ran()) {
      if (graph == b) {
        made = true;
        spoilt = false;
      }
      if (graph == a) spoilt = made;
      if (spoilt && std::ranges::find(readers, graph) != readers.end()) return true;
    }
    return false;
  }

  const Facts& facts_;
  const Trace& trace_;
  std::vector<Seq> first_launch_;  // by graph
  size_t pairs_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindReplayOrders(const Facts& facts) {
  return OrderFinder(facts).FindReordered();
}

}  // namespace graphkit
