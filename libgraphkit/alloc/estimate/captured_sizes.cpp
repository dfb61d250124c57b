#include "libgraphkit/alloc/estimate/estimate.h"

#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {
namespace {

// Two graphs with the same numbers are alike: they say their nodes, edges, allocations and frees.
using Likeness = std::vector<uint32_t>;

std::vector<CapturedGraph> FindCaptures(const Ran& trace) {
  std::vector<CapturedGraph> graphs;
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kCompleted || !capture.graph) continue;
    if (trace[capture.graph].parent) continue;
    graphs.push_back({.graph = capture.graph,
                      .stream = capture.origin,
                      .begin = capture.begin,
                      .end = capture.end});
  }
  return graphs;
}

// Blocks of allocators: not the memory that segments are made of, and not the graph's own nodes'.
void AddBlocks(const Ran& trace, const std::vector<GraphId>& roots,
               std::vector<CapturedGraph>* graphs) {
  std::map<GraphId, CapturedGraph*> by_graph;
  for (CapturedGraph& graph : *graphs) by_graph[graph.graph] = &graph;
  const std::vector<bool> backs_segment = BacksSegment(trace);
  for (uint32_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (!block.graph || block.alloc_node || backs_segment[i] || block.size == 0) continue;
    const auto found = by_graph.find(roots[block.graph.index()]);
    if (found != by_graph.end()) found->second->blocks.push_back(BlockId(i));
  }
}

// Allocations and frees inside of the capture, each by the number of its block.
void AddCalls(const Ran& trace, const CapturedGraph& graph, Likeness* likeness) {
  std::vector<std::pair<Seq, uint32_t>> calls;
  for (uint32_t i = 0; i < graph.blocks.size(); ++i) {
    const Block& block = trace[graph.blocks[i]];
    calls.emplace_back(block.allocated, 2 * i);
    if (block.free_completed <= graph.end) calls.emplace_back(block.free_completed, 2 * i + 1);
  }
  std::ranges::stable_sort(calls, {}, &std::pair<Seq, uint32_t>::first);
  for (const auto& [seq, call] : calls) likeness->push_back(call);
}

std::vector<Likeness> Likenesses(const Ran& trace, const std::vector<GraphId>& roots,
                                 const std::vector<CapturedGraph>& graphs) {
  std::vector<Likeness> by_graph(trace.graphs.size());
  std::vector<uint32_t> place(trace.nodes.size());
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    Likeness& likeness = by_graph[roots[node.graph.index()].index()];
    place[id.index()] = static_cast<uint32_t>(likeness.size());
    likeness.push_back(static_cast<uint32_t>(node.kind));
  }
  for (const EdgeId id : trace.graph_edges) {
    const Edge& edge = trace[id];
    Likeness& likeness = by_graph[roots[trace[edge.from].graph.index()].index()];
    likeness.insert(likeness.end(), {place[edge.from.index()], place[edge.to.index()],
                                     uint32_t{edge.from_port} * 256 + uint32_t{edge.to_port}});
  }
  std::vector<Likeness> likenesses;
  for (const CapturedGraph& graph : graphs) {
    Likeness& likeness = by_graph[graph.graph.index()];
    likeness.push_back(~uint32_t{0});
    AddCalls(trace, graph, &likeness);
    likenesses.push_back(std::move(likeness));
  }
  return likenesses;
}

void SortIntoKinds(const std::vector<Likeness>& likenesses, CapturedSizes* found) {
  std::map<Likeness, uint32_t> kinds;
  for (size_t i = 0; i < found->graphs.size(); ++i) {
    found->graphs[i].kind =
        kinds.emplace(likenesses[i], static_cast<uint32_t>(kinds.size())).first->second;
  }
  found->kinds = static_cast<uint32_t>(kinds.size());
}

std::vector<Bytes> SizesOfBlocks(const Ran& trace, const CapturedGraph& graph) {
  std::vector<Bytes> sizes;
  for (const BlockId block : graph.blocks) sizes.push_back(trace[block].size);
  return sizes;
}

// A server that measures itself first captures graphs, destroys them, and captures the same ones
// again: of graphs alike (or of one name) those that it gave up don't count.
void DropGivenUp(const Ran& trace, const std::vector<GraphId>& roots, CapturedSizes* found) {
  using Alike = std::pair<uint32_t, std::vector<Bytes>>;
  const std::vector<Seq> destroyed = FindDestroyed(trace, roots);
  const auto alike = [&](const CapturedGraph& graph) {
    return Alike(graph.kind, SizesOfBlocks(trace, graph));
  };
  std::set<Alike> kept;
  std::set<std::string_view> names;
  for (const CapturedGraph& graph : found->graphs) {
    if (destroyed[graph.graph.index()] != kNever) continue;
    kept.insert(alike(graph));
    names.insert(trace[trace[graph.graph].name]);
  }
  names.erase("");
  found->given_up = std::erase_if(found->graphs, [&](const CapturedGraph& graph) {
    const bool again =
        names.contains(trace[trace[graph.graph].name]) || kept.contains(alike(graph));
    return destroyed[graph.graph.index()] != kNever && again;
  });
}

std::vector<uint64_t> NumbersIn(std::string_view text) {
  std::vector<uint64_t> numbers;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
    const bool read = error == std::errc();
    if (read) numbers.push_back(number);
    at = read ? end : at + 1;
  }
  return numbers;
}

// The graph's name, or that of the innermost range in which its capture began.
std::string_view NameOfGraph(const Ran& trace, const CapturedGraph& graph) {
  std::string_view name = trace[trace[graph.graph].name];
  if (!name.empty()) return name;
  for (const NvtxRange& range : trace.nvtx_ranges) {
    const bool around = range.begin < graph.begin && graph.begin < range.end;
    if (around && !NumbersIn(trace[range.name]).empty()) name = trace[range.name];
  }
  return name;
}

Bytes Sum(const std::vector<Bytes>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
}

// Graphs of a kind with equal blocks, those with the fewest bytes first.
struct Class {
  std::vector<Bytes> sizes;
  std::vector<uint32_t> graphs;
};

std::vector<Class> ClassesOf(const Ran& trace, const CapturedSizes& found, uint32_t kind) {
  std::map<std::pair<Bytes, std::vector<Bytes>>, std::vector<uint32_t>> sorted;
  for (uint32_t i = 0; i < found.graphs.size(); ++i) {
    if (found.graphs[i].kind != kind) continue;
    std::vector<Bytes> sizes = SizesOfBlocks(trace, found.graphs[i]);
    const Bytes sum = Sum(sizes);
    sorted[{sum, std::move(sizes)}].push_back(i);
  }
  std::vector<Class> classes;
  for (auto& [key, graphs] : sorted) classes.push_back({key.second, std::move(graphs)});
  return classes;
}

// The number in a name that grows with the blocks. The first numbers that do, of all names alike.
bool SizesByNames(const Ran& trace, const std::vector<Class>& classes, CapturedSizes* found) {
  std::vector<std::vector<uint64_t>> numbers;  // of a graph of each class
  for (const Class& one : classes) {
    for (const uint32_t graph : one.graphs) {
      std::vector<uint64_t> of_graph = NumbersIn(NameOfGraph(trace, found->graphs[graph]));
      if (graph != one.graphs.front() && of_graph != numbers.back()) return false;
      if (graph == one.graphs.front()) numbers.push_back(std::move(of_graph));
    }
    if (numbers.back().size() != numbers.front().size()) return false;
  }
  for (size_t n = 0; n < numbers.front().size(); ++n) {
    bool grows = numbers.front()[n] > 0;
    for (size_t i = 1; i < numbers.size(); ++i) grows = grows && numbers[i - 1][n] < numbers[i][n];
    if (!grows) continue;
    for (size_t i = 0; i < classes.size(); ++i) {
      for (const uint32_t graph : classes[i].graphs) found->graphs[graph].size = numbers[i][n];
    }
    return true;
  }
  return false;
}

// The smallest whole numbers with the ratio that most bytes of blocks have over the classes.
std::vector<uint64_t> RatioOfBlocks(const std::vector<Class>& classes) {
  std::map<std::vector<uint64_t>, Bytes> bytes;
  for (size_t block = 0; block < classes.front().sizes.size(); ++block) {
    std::vector<uint64_t> ratio;
    uint64_t divisor = 0;
    for (const Class& one : classes) divisor = std::gcd(divisor, one.sizes[block]);
    for (const Class& one : classes) ratio.push_back(one.sizes[block] / divisor);
    if (ratio.front() != ratio.back()) bytes[ratio] += classes.back().sizes[block];
  }
  if (bytes.empty()) return {};
  return std::ranges::max_element(bytes, {}, &std::pair<const std::vector<uint64_t>, Bytes>::second)
      ->first;
}

std::string TextOf(std::span<const uint64_t> numbers) {
  std::string text;
  for (const uint64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

Error Unnamed(const std::string& what) {
  return Error{.message = what, .hint = "name the sizes with --captured, as in --captured 8,64"};
}

Result<void> NameSizes(const Ran& trace, std::span<const uint64_t> captured,
                       const std::vector<Class>& classes, CapturedSizes* found) {
  std::vector<uint64_t> sizes(captured.begin(), captured.end());
  if (sizes.empty() && SizesByNames(trace, classes, found)) {
    found->sizes_from = SizesFrom::kNames;
    return {};
  }
  if (sizes.empty()) {
    sizes = RatioOfBlocks(classes);
    found->sizes_from = SizesFrom::kBlocks;
    const bool grows =
        std::ranges::adjacent_find(sizes, std::ranges::greater_equal()) == sizes.end();
    if (classes.size() < 2 || !grows || sizes.empty())
      return Unnamed("the trace doesn't say which size its graphs were captured for");
  }
  if (sizes.size() != classes.size()) {
    return Unnamed("the blocks of graph " +
                   std::to_string(found->graphs[classes.front().graphs.front()].graph.value) +
                   " and those like it show " + FormatCount(classes.size()) +
                   " sizes, not those of " + TextOf(sizes));
  }
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const uint32_t graph : classes[i].graphs) found->graphs[graph].size = sizes[i];
  }
  return {};
}

// A kind whose blocks are equal in all captures, where another's aren't, or that has none: each of
// its graphs belongs to the graph before it.
void TakeNeighbours(std::vector<CapturedGraph>* graphs) {
  uint64_t last = 0;
  for (CapturedGraph& graph : *graphs) last = graph.size == 0 ? graph.size = last : graph.size;
  last = 0;
  for (size_t i = graphs->size(); i-- > 0;) {
    CapturedGraph& graph = (*graphs)[i];
    last = graph.size == 0 ? graph.size = last : graph.size;
  }
}

// Graphs that the program itself named, each with as many numbers: the first that differs.
bool SizesByOwnNames(const Ran& trace, std::vector<CapturedGraph>* graphs) {
  std::vector<std::vector<uint64_t>> numbers;
  for (const CapturedGraph& graph : *graphs)
    numbers.push_back(NumbersIn(trace[trace[graph.graph].name]));
  for (size_t n = 0;; ++n) {
    bool differs = false;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (n >= numbers[i].size() || numbers[i][n] == 0) return false;
      (*graphs)[i].size = numbers[i][n];
      differs = differs || numbers[i][n] != numbers[0][n];
    }
    if (differs) return true;
  }
}

Result<void> FindSizes(const Ran& trace, std::span<const uint64_t> captured, CapturedSizes* found) {
  if (captured.empty() && SizesByOwnNames(trace, &found->graphs)) {
    found->sizes_from = SizesFrom::kNames;
    return {};
  }
  for (CapturedGraph& graph : found->graphs) graph.size = 0;
  std::vector<std::vector<Class>> classes;
  size_t most = 0;
  for (uint32_t kind = 0; kind < found->kinds; ++kind) {
    classes.push_back(ClassesOf(trace, *found, kind));
    most = std::max(most, classes.back().size());
  }
  // Kinds with fewer sizes than named are those whose graphs don't depend on it.
  for (const std::vector<Class>& of_kind : classes) {
    const bool grows = of_kind.size() > 1 || most == 1;
    if (!grows || of_kind.front().sizes.empty()) continue;
    if (const auto named = NameSizes(trace, captured, of_kind, found); !named) return named;
  }
  TakeNeighbours(&found->graphs);
  const bool all = std::ranges::none_of(found->graphs, [](const auto& g) { return g.size == 0; });
  return all ? Result<void>() : Unnamed("no capture allocates blocks that show its size");
}

// Until where the frees of a round's blocks count as the capturing's own: the next round's begin,
// or what is launched first.
Seq TailOf(const Ran& trace, Seq end, Seq next) {
  Seq tail = next;
  const auto launch =
      std::ranges::find_if(trace.launches, [end](const Launch& one) { return one.seq > end; });
  if (launch != trace.launches.end()) tail = std::min(tail, launch->seq);
  for (const Exec& exec : trace.execs) {
    if (exec.destroyed > end) tail = std::min(tail, exec.destroyed);
  }
  return tail == kNever ? end : tail;
}

void AddRoundCalls(const Ran& trace, const std::vector<CapturedGraph>& graphs,
                   CapturedRound* round) {
  Seq end = 0, next = kNever, next_end = 0;
  for (const uint32_t graph : round->graphs) end = std::max(end, graphs[graph].end);
  for (const CapturedGraph& graph : graphs) {
    if (graph.begin > end && graph.begin < next) {
      next = graph.begin;
      next_end = graph.end;
    }
  }
  const Seq tail = TailOf(trace, end, next);
  round->has_next = next != kNever;
  std::vector<std::pair<Seq, PoolCall>> calls;
  for (uint32_t g = 0; g < round->graphs.size(); ++g) {
    const std::vector<BlockId>& blocks = graphs[round->graphs[g]].blocks;
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      const Block& block = trace[blocks[b]];
      calls.push_back({block.allocated, {g, b, PoolCall::What::kAllocate}});
      if (block.free_completed <= tail) {
        const bool sure = round->has_next || block.free_completed <= end;
        calls.push_back({block.free_completed,
                         {g, b, sure ? PoolCall::What::kFree : PoolCall::What::kFreeAtSomeTime}});
      } else if (block.free_completed <= next_end) {
        calls.push_back({block.free_completed, {g, b, PoolCall::What::kFreeAfterNext}});
      }
    }
  }
  std::ranges::stable_sort(calls, {}, &std::pair<Seq, PoolCall>::first);
  for (const auto& [seq, call] : calls) round->calls.push_back(call);
}

// The last round's blocks go when an alike round's do.
void SettleLastRound(const CapturedSizes& found, CapturedRound* last) {
  const auto kinds = [&](const CapturedRound& round) {
    std::vector<uint32_t> kinds;
    for (const uint32_t graph : round.graphs) kinds.push_back(found.graphs[graph].kind);
    return kinds;
  };
  for (const CapturedRound& round : found.rounds) {
    if (!round.has_next || kinds(round) != kinds(*last)) continue;
    last->calls = round.calls;
    return;
  }
}

void AddRounds(const Ran& trace, CapturedSizes* found) {
  std::map<uint64_t, CapturedRound> rounds;
  for (uint32_t i = 0; i < found->graphs.size(); ++i) {
    CapturedRound& round = rounds[found->graphs[i].size];
    round.size = found->graphs[i].size;
    round.graphs.push_back(i);
  }
  for (auto& [size, round] : rounds) {
    AddRoundCalls(trace, found->graphs, &round);
    found->rounds.push_back(std::move(round));
  }
  for (CapturedRound& round : found->rounds) {
    if (!round.has_next) SettleLastRound(*found, &round);
  }
}

void AddGrowth(const Ran& trace, CapturedSizes* found) {
  std::vector<std::vector<std::vector<SizePoint>>> points(found->kinds);
  for (const CapturedGraph& graph : found->graphs) {
    points[graph.kind].resize(graph.blocks.size());
    for (size_t i = 0; i < graph.blocks.size(); ++i)
      points[graph.kind][i].push_back({graph.size, trace[graph.blocks[i]].size});
  }
  for (auto& of_kind : points) {
    found->growth.emplace_back();
    for (auto& of_block : of_kind) found->growth.back().push_back(FitGrowth(std::move(of_block)));
  }
}

}  // namespace

Result<CapturedSizes> FindCapturedSizes(const Ran& trace, const std::vector<GraphId>& roots,
                                        std::span<const uint64_t> captured) {
  CapturedSizes found{.graphs = FindCaptures(trace)};
  if (found.graphs.empty()) {
    return Error{.message = "the trace holds no finished capture, from which to estimate others",
                 .hint = "trace the program while it captures: graphkit trace ./app"};
  }
  AddBlocks(trace, roots, &found.graphs);
  SortIntoKinds(Likenesses(trace, roots, found.graphs), &found);
  DropGivenUp(trace, roots, &found);
  if (found.given_up > 0) SortIntoKinds(Likenesses(trace, roots, found.graphs), &found);
  if (const auto sizes = FindSizes(trace, captured, &found); !sizes) return sizes.error();
  AddRounds(trace, &found);
  AddGrowth(trace, &found);
  return found;
}

}  // namespace graphkit
