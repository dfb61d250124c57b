// "Is a before b?": graphkit's index beside other ways to know it, on the same random captures (16
// streams, a tenth of the nodes joins another stream), each at the sizes that it can do. Before
// anything is timed, all are asked the same questions and have to agree.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <utility>

#include "libgraphkit/analysis/order/build_order.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/random.h"
#include "tests/bench/order_peers.h"
#include "tests/generate/synth.h"

#ifdef GRAPHKIT_BENCH_BOOST
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_closure.hpp>
#endif

namespace graphkit {
namespace {

constexpr uint32_t kStreams = 16;
constexpr size_t kQuestions = 1 << 16;

struct Capture {
  Ran trace;
  PeerGraph graph;
  std::vector<std::pair<uint32_t, uint32_t>> questions;
};

// Kept while the same size is asked for: captures are large.
const Capture& CaptureOf(int64_t nodes) {
  static std::map<int64_t, std::unique_ptr<Capture>> kept;
  if (!kept.contains(nodes)) {
    kept.clear();
    SynthOptions options;
    options.ops = static_cast<uint64_t>(nodes);
    options.streams = kStreams;
    options.alloc = 0;
    options.free = 0;
    auto capture = std::make_unique<Capture>();
    capture->trace = Synthesize(options);
    capture->graph = MakePeerGraph(capture->trace);
    Random random(7);
    for (size_t i = 0; i < kQuestions; ++i) {
      const auto a = static_cast<uint32_t>(random.Below(capture->trace.nodes.size()));
      const auto b = static_cast<uint32_t>(random.Below(capture->trace.nodes.size()));
      capture->questions.emplace_back(a, b);
    }
    kept[nodes] = std::move(capture);
  }
  return *kept[nodes];
}

// Of a few questions, how many an index answers otherwise than a search does.
template <typename Index>
size_t Wrong(const Capture& capture, const Index& index) {
  PrunedSearch search(capture.graph);
  const size_t asked = capture.trace.nodes.size() > 1'000'000 ? 16 : 512;
  size_t wrong = 0;
  for (size_t i = 0; i < asked; ++i) {
    const auto [a, b] = capture.questions[i];
    wrong += index.Before(a, b) != search.Before(a, b);
  }
  return wrong;
}

struct Graphkit {
  explicit Graphkit(const Capture& capture) : order(BuildOrder(capture.trace)) {}
  bool Before(uint32_t a, uint32_t b) const { return order.Before(NodeId(a), NodeId(b)); }
  size_t bytes() const { return order.node_bytes() + order.row_bytes(); }
  Order order;
};

// As Graphkit, from what the other indices are built from: nodes and edges, no trace to decode.
struct GraphkitFromEdges {
  explicit GraphkitFromEdges(const Capture& capture) {
    const PeerGraph& graph = capture.graph;
    order.Reserve(graph.stream.size(), graph.in.edges.size() - graph.stream.size() + 64);
    for (uint32_t node = 0; node < graph.stream.size(); ++node) {
      order.Add(NodeId(node), GraphId(uint32_t{0}), StreamId(graph.stream[node]), Ternary::kUnknown,
                graph.in.Of(node));
    }
  }
  bool Before(uint32_t a, uint32_t b) const { return order.Before(NodeId(a), NodeId(b)); }
  size_t bytes() const { return order.node_bytes() + order.row_bytes(); }
  Order order;
};

struct Dense : DenseClocks {
  explicit Dense(const Capture& capture) : DenseClocks(capture.graph) {}
};
struct Bits : BitClosure {
  explicit Bits(const Capture& capture) : BitClosure(capture.graph) {}
};

#ifdef GRAPHKIT_BENCH_BOOST
struct BoostClosure {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  explicit BoostClosure(const Capture& capture) {
    Graph graph(capture.graph.stream.size());
    for (uint32_t node = 0; node < capture.graph.stream.size(); ++node) {
      for (const InEdge& edge : capture.graph.in.Of(node)) {
        boost::add_edge(edge.from.value, node, graph);
      }
    }
    boost::transitive_closure(graph, closure);
  }
  bool Before(uint32_t a, uint32_t b) const { return a != b && boost::edge(a, b, closure).second; }
  size_t bytes() const { return boost::num_edges(closure) * sizeof(size_t); }
  Graph closure;
};
#endif

template <typename Index>
void Build(benchmark::State& state) {
  const Capture& capture = CaptureOf(state.range(0));
  size_t bytes = 0;
  for (auto _ : state) {
    const Index index(capture);
    bytes = index.bytes();
    benchmark::DoNotOptimize(bytes);
  }
  const Index index(capture);
  if (Wrong(capture, index) != 0) state.SkipWithError("wrong answers");
  const auto nodes = static_cast<double>(capture.trace.nodes.size());
  state.counters["bytes/node"] = static_cast<double>(bytes) / nodes;
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(capture.trace.nodes.size()));
}

// Throughput over random pairs.
template <typename Index>
void Ask(benchmark::State& state) {
  const Capture& capture = CaptureOf(state.range(0));
  const Index index(capture);
  size_t yes = 0;
  for (auto _ : state) {
    for (const auto& [a, b] : capture.questions) yes += index.Before(a, b);
    benchmark::DoNotOptimize(yes);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kQuestions));
}

void AskPrunedSearch(benchmark::State& state) {
  const Capture& capture = CaptureOf(state.range(0));
  PrunedSearch search(capture.graph);
  size_t at = 0;
  for (auto _ : state) {
    const auto [a, b] = capture.questions[at++ % kQuestions];
    benchmark::DoNotOptimize(search.Before(a, b));
  }
  state.SetItemsProcessed(state.iterations());
}

// A malloc for every tenth node, each asking for one marker, as PyTorch does.
template <bool kCached>
void CaptureWithTorch(benchmark::State& state) {
  const Capture& capture = CaptureOf(state.range(0));
  int64_t mallocs = 0;
  double visited = 0;
  for (auto _ : state) {
    TorchSearch search(capture.graph, kCached);
    size_t yes = 0;
    for (uint32_t tip = 10; tip < capture.trace.nodes.size(); tip += 10, ++mallocs) {
      yes += search.Reaches(capture.questions[tip % kQuestions].first % tip, tip);
    }
    benchmark::DoNotOptimize(yes);
    visited = static_cast<double>(search.visited());
  }
  state.counters["nodes kept"] = visited;
  state.SetItemsProcessed(mallocs);
}

void CaptureWithGraphkit(benchmark::State& state) {
  const Capture& capture = CaptureOf(state.range(0));
  int64_t mallocs = 0;
  for (auto _ : state) {
    const GraphkitFromEdges index(capture);
    size_t yes = 0;
    for (uint32_t tip = 10; tip < capture.trace.nodes.size(); tip += 10, ++mallocs) {
      const auto marker = NodeId(capture.questions[tip % kQuestions].first % tip);
      yes += index.order.EndsBefore(marker, NodeId(tip));
    }
    benchmark::DoNotOptimize(yes);
  }
  state.SetItemsProcessed(mallocs);
}

// Ordered by size, so that a capture is made once.
void Register() {
  const auto add = [](const char* name, void (*run)(benchmark::State&), int64_t nodes) {
    benchmark::RegisterBenchmark(name, run)->Arg(nodes)->Unit(benchmark::kMillisecond);
  };
  for (const int64_t nodes : {10'000, 100'000, 1'000'000, 10'000'000}) {
    add("Build/graphkit", Build<Graphkit>, nodes);
    add("Build/graphkit from edges", Build<GraphkitFromEdges>, nodes);
    add("Build/dense clocks", Build<Dense>, nodes);
    if (nodes <= 100'000) add("Build/bit-set closure", Build<Bits>, nodes);
#ifdef GRAPHKIT_BENCH_BOOST
    if (nodes <= 10'000) add("Build/boost::transitive_closure", Build<BoostClosure>, nodes);
#endif
    add("Ask/graphkit", Ask<Graphkit>, nodes);
    add("Ask/dense clocks", Ask<Dense>, nodes);
    if (nodes <= 100'000) add("Ask/bit-set closure", Ask<Bits>, nodes);
#ifdef GRAPHKIT_BENCH_BOOST
    if (nodes <= 10'000) add("Ask/boost::transitive_closure", Ask<BoostClosure>, nodes);
#endif
    if (nodes <= 1'000'000) add("Ask/pruned search", AskPrunedSearch, nodes);
    add("Mallocs/graphkit", CaptureWithGraphkit, nodes);
    if (nodes <= 10'000) add("Mallocs/PyTorch, first search", CaptureWithTorch<false>, nodes);
    if (nodes <= 1'000'000) add("Mallocs/PyTorch, cached", CaptureWithTorch<true>, nodes);
  }
}

const bool kRegistered = [] {
  Register();
  return true;
}();

}  // namespace
}  // namespace graphkit
