// The versions of a trace, against the records replayed one by one.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/build_order.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

// Random programs that make, edit, instantiate, update and launch graphs, against the records
// replayed one by one: at each instantiation and each update the graph is copied as it is then.

using Touched = std::set<BlockId>;

struct Copy {
  GraphId root;
  size_t edits = 0;  // of the root, before
  std::map<NodeId, Touched> nodes;
  std::set<std::pair<NodeId, NodeId>> edges;
};

// The runs of a root between two edits of it.
struct RanVersion {
  Copy copy;
  std::map<NodeId, Touched> touched;  // by any of its runs
};

class Replay {
 public:
  explicit Replay(const Trace& trace) : trace_(trace) {
    std::map<Seq, std::vector<std::pair<char, size_t>>> events;
    const auto add = [&](char what, size_t i, Seq seq) {
      if (seq != kNever) events[seq].emplace_back(what, i);
    };
    for (size_t i = 0; i < trace.nodes.size(); ++i) {
      add('n', i, trace.nodes[i].seq);
      add('x', i, trace.nodes[i].destroyed);
    }
    for (size_t i = 0; i < trace.edges.size(); ++i) {
      add('e', i, trace.edges[i].seq);
      add('r', i, trace.edges[i].removed);
    }
    for (size_t i = 0; i < trace.node_changes.size(); ++i) add('p', i, trace.node_changes[i].seq);
    for (size_t i = 0; i < trace.execs.size(); ++i) {
      add('i', i, trace.execs[i].created);
      add('d', i, trace.execs[i].destroyed);
    }
    for (size_t i = 0; i < trace.exec_updates.size(); ++i) add('u', i, trace.exec_updates[i].seq);
    for (size_t i = 0; i < trace.launches.size(); ++i) add('l', i, trace.launches[i].seq);
    for (const auto& [seq, here] : events) {
      for (const auto& [what, i] : here) Apply(what, i);
    }
    for (auto& [exec, copy] : execs_) Run(copy, &would_);
  }

  // Of a root, what launches ran; else what its execs would.
  std::vector<RanVersion> Of(GraphId root) const {
    std::vector<RanVersion> all;
    const bool launched = ran_.contains(root);
    const auto& found = launched ? ran_ : would_;
    if (!found.contains(root)) return all;
    for (const auto& [edits, ran] : found.at(root)) {
      all.push_back(ran);
      if (!launched || !would_.contains(root) || !would_.at(root).contains(edits)) continue;
      for (const auto& [node, touched] : would_.at(root).at(edits).touched) {
        all.back().touched[node].insert(touched.begin(), touched.end());
      }
    }
    return all;
  }

 private:
  using ByRoot = std::map<GraphId, std::map<size_t, RanVersion>>;

  GraphId RootOfNode(NodeId node) const { return RootOf(trace_, trace_[node].graph); }
  Touched TouchedBy(Slice accesses) const {
    Touched blocks;
    for (const Access& access : trace_.accesses.Of(accesses)) blocks.insert(access.block);
    return blocks;
  }
  Copy CopyOf(GraphId root) const {
    Copy copy{.root = root, .edits = edits_.contains(root) ? edits_.at(root) : 0};
    for (const auto& [node, touched] : nodes_) {
      if (RootOfNode(node) == root) copy.nodes[node] = touched;
    }
    for (const EdgeId edge : edges_) {
      const NodeId from = trace_[edge].from, to = trace_[edge].to;
      if (copy.nodes.contains(from) && copy.nodes.contains(to)) copy.edges.emplace(from, to);
    }
    return copy;
  }
  static void Run(const Copy& copy, ByRoot* to) {
    RanVersion& ran = (*to)[copy.root][copy.edits];
    ran.copy = copy;
    for (const auto& [node, touched] : copy.nodes) {
      ran.touched[node].insert(touched.begin(), touched.end());
    }
  }
  void Apply(char what, size_t i) {
    const auto edited = [&](NodeId node) { ++edits_[RootOfNode(node)]; };
    switch (what) {
      case 'n':
        nodes_[NodeId(i)] = TouchedBy(trace_.nodes[i].accesses);
        return edited(NodeId(i));
      case 'x':
        nodes_.erase(NodeId(i));
        return edited(NodeId(i));
      case 'e':
        edges_.emplace(i);
        return edited(trace_.edges[i].from);
      case 'r':
        edges_.erase(EdgeId(i));
        return edited(trace_.edges[i].from);
      case 'p': {
        const NodeChange& change = trace_.node_changes[i];
        if (change.exec.valid()) {
          execs_.at(change.exec).nodes[change.node] = TouchedBy(change.accesses);
        } else {
          nodes_[change.node] = TouchedBy(change.accesses);
          edited(change.node);
        }
        return;
      }
      case 'i':
        execs_[ExecId(i)] = CopyOf(trace_.execs[i].graph);
        return;
      case 'u':
        if (trace_.exec_updates[i].result != 0) return;
        execs_[trace_.exec_updates[i].exec] = CopyOf(trace_.exec_updates[i].graph);
        return;
      case 'l':
        launched_.insert(trace_.launches[i].exec);
        return Run(execs_.at(trace_.launches[i].exec), &ran_);
      case 'd':
        if (!launched_.contains(ExecId(i))) Run(execs_.at(ExecId(i)), &would_);
        execs_.erase(ExecId(i));
    }
  }

  const Trace& trace_;
  std::map<NodeId, Touched> nodes_;
  std::set<EdgeId> edges_;
  std::map<GraphId, size_t> edits_;
  std::map<ExecId, Copy> execs_;
  std::set<ExecId> launched_;
  ByRoot ran_, would_;
};

class RandomEdits {
 public:
  explicit RandomEdits(uint64_t seed) : random_(seed) {}

  Ran Run() {
    for (int i = 0; i < 3; ++i) blocks_.push_back(t_.Alloc({}, 512));
    for (int i = 0; i < 2; ++i) graphs_.push_back(t_.Graph());
    const NodeId holder = Add(graphs_[0], NodeKind::kConditional);
    graphs_.push_back(t_.Body(holder));
    kept_.insert(holder);
    for (int i = 0; i < 6; ++i) AddAny();
    const int steps = 5 + static_cast<int>(random_() % 40);
    for (int i = 0; i < steps; ++i) Step();
    return t_.Build();
  }

 private:
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }
  Access Any() { return Writes(Pick(blocks_)); }
  NodeId Add(GraphId graph, NodeKind kind) {
    nodes_.push_back(kind == NodeKind::kConditional ? t_.Add(graph, kind)
                                                    : t_.Add(graph, kind, {}, {Any()}));
    return nodes_.back();
  }
  void AddAny() {
    const NodeId node = Add(Pick(graphs_), NodeKind::kMemset);
    if (random_() % 2 == 0) Connect(Pick(nodes_), node);
  }
  void Connect(NodeId from, NodeId to) {
    if (to < from) std::swap(from, to);
    if (from == to || t_.trace()[from].graph != t_.trace()[to].graph) return;
    edges_.push_back(t_.Connect(from, to));
  }
  void Step() {
    switch (random_() % 9) {
      case 0:
        return AddAny();
      case 1:
        return Connect(Pick(nodes_), Pick(nodes_));
      case 2:
        if (edges_.empty()) return;
        std::ranges::shuffle(edges_, random_);
        t_.Remove(edges_.back());
        return edges_.pop_back();
      case 3:
        return DestroyNode();
      case 4:
        return t_.Change(Pick(nodes_), {}, NodeChangeKind::kParams, {Any()});
      case 5:
        execs_.push_back(t_.Instantiate(graphs_[random_() % 2]));
        return;
      case 6:
        if (!execs_.empty() && random_() % 2 == 0) {
          t_.Update(Pick(execs_), graphs_[random_() % 2], random_() % 4 == 0 ? 1 : 0);
        }
        return;
      case 7:
        if (execs_.empty() || random_() % 3 != 0) return;
        t_.Destroy(execs_.front());
        execs_.erase(execs_.begin());
        return;
      default:
        if (!execs_.empty()) t_.Launch(Pick(execs_), stream_);
    }
  }
  void DestroyNode() {
    const NodeId node = Pick(nodes_);
    if (kept_.contains(node)) return;
    const auto leads = [&](EdgeId edge) {
      return t_.trace()[edge].from == node || t_.trace()[edge].to == node;
    };
    std::erase_if(edges_, leads);  // they go with it
    std::erase(nodes_, node);
    t_.Destroy(node);
  }

  std::mt19937_64 random_;
  TraceBuilder t_;
  StreamId stream_ = t_.Stream("a");
  std::vector<BlockId> blocks_;
  std::vector<GraphId> graphs_;  // two roots, and one inside the first
  std::vector<NodeId> nodes_;
  std::vector<EdgeId> edges_;
  std::vector<ExecId> execs_;
  std::set<NodeId> kept_;
};

// Of the nodes of a root, whether paths of edges lead from one to the other; or from, or to, the
// node that holds one of them.
bool Leads(const Ran& trace, const Copy& copy, NodeId from, NodeId to) {
  const auto holder = [&](NodeId node) { return trace[trace[node].graph].parent; };
  std::set<NodeId> reached = {from};
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& [a, b] : copy.edges) {
      if (reached.contains(a)) reached.insert(b);
    }
  }
  if (reached.contains(to)) return true;
  if (trace[from].graph == trace[to].graph) return false;
  if (holder(from).valid() && Leads(trace, copy, holder(from), to)) return holder(from) != to;
  return holder(to).valid() && holder(to) != from && Leads(trace, copy, from, holder(to));
}

void CheckVersion(const Ran& shown, GraphId root, const RanVersion& ran) {
  std::map<NodeId, Touched> nodes;
  for (const NodeId id : shown.graph_nodes) {
    if (RootOf(shown, shown[id].graph) != root) continue;
    Touched& touched = nodes[id];
    for (const Access& a : shown.accesses.Of(shown[id].accesses)) touched.insert(a.block);
  }
  CHECK(nodes == ran.touched);
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const EdgeId id : shown.graph_edges) {
    const Edge& edge = shown[id];
    if (RootOf(shown, shown[edge.from].graph) == root) {
      edges.emplace(edge.from, edge.to);
    }
  }
  CHECK(edges == ran.copy.edges);
  const Order order = BuildOrder(shown);
  for (const auto& from : nodes) {
    for (const auto& to : nodes) {
      const NodeId a = from.first, b = to.first;
      if (a == b) continue;
      CAPTURE(a.value);
      CAPTURE(b.value);
      CHECK(order.Before(a, b) == Leads(shown, ran.copy, a, b));
    }
  }
}

TEST_CASE("versions are what a replay of the records copies at instantiations and updates") {
  size_t several = 0, edited = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomEdits(seed).Run();
    const Trace recorded = AsRecorded(trace);
    const Replay replay(recorded);
    const size_t count = CountVersions(trace);
    several += count > 1;
    edited += count > 0;
    for (const GraphId root : {GraphId(0u), GraphId(1u)}) {
      const std::vector<RanVersion> ran = replay.Of(root);
      if (trace.shown_versions.empty() || trace.shown_versions[root.index()].count == 0) {
        CHECK(ran.size() <= 1);
        if (!ran.empty()) CheckVersion(trace, root, ran[0]);
        continue;
      }
      REQUIRE(trace.shown_versions[root.index()].count == ran.size());
      for (size_t i = 0; i < count; ++i) {
        CheckVersion(OfVersion(i, trace), root, ran[std::min(i, ran.size() - 1)]);
      }
      // All together: each node that ran, and no order that one of the versions doesn't have.
      const Order order = BuildOrder(trace);
      for (const RanVersion& version : ran) {
        for (const auto& [a, touched] : version.copy.nodes) {
          CHECK(trace.graph_nodes.Has(a));
          for (const auto& [b, too] : version.copy.nodes) {
            if (a != b && order.Before(a, b)) CHECK(Leads(trace, version.copy, a, b));
          }
        }
      }
    }
  }
  CHECK(several > 100);
  CHECK(edited > 500);
}

TEST_CASE("a launch counts for the version that it ran") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Ran trace = RandomEdits(seed).Run();
    const size_t count = CountVersions(trace);
    if (count < 2) continue;
    const auto all = Facts(trace).launches();
    for (const GraphId root : {GraphId(0u), GraphId(1u)}) {
      if (!HasSeveralVersions(trace, root)) continue;
      std::multiset<uint32_t> found;
      for (size_t i = 0; i < trace.shown_versions[root.index()].count; ++i) {
        const auto launches = Facts(OfVersion(i, trace)).launches()[root.index()];
        found.insert(launches.begin(), launches.end());
      }
      CHECK(std::ranges::equal(found, all[root.index()]));
    }
  }
}

}  // namespace
}  // namespace graphkit
