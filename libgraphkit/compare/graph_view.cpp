#include "libgraphkit/compare/match_graphs.h"

#include <map>

#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/group_by.h"

namespace graphkit {

namespace {

constexpr uint32_t kNowhere = 0xffffffffu;

// By kernel.
std::vector<uint64_t> HashKernels(const Ran& trace) {
  std::vector<uint64_t> hashes;
  for (const Kernel& kernel : trace.kernels) hashes.push_back(HashText(trace[kernel.name]));
  return hashes;
}

uint64_t NameHash(const Node& node, const std::vector<uint64_t>& kernels) {
  uint64_t hash = Mix(static_cast<uint64_t>(node.kind), 1);
  if (node.kind == NodeKind::kConditional) {
    hash = Mix(hash, static_cast<uint64_t>(node.conditional));
  }
  return node.kernel ? Mix(hash, kernels[node.kernel.index()]) : hash;
}

uint64_t ParameterHash(const Ran& trace, const Node& node) {
  uint64_t hash = 0;
  if (node.shape < trace.shapes.size()) {
    const LaunchShape& shape = trace.shapes[node.shape];
    for (const uint32_t size : shape.grid) hash = Mix(hash, size);
    for (const uint32_t size : shape.block) hash = Mix(hash, size);
    hash = Mix(hash, shape.shared_bytes);
  }
  if (node.block) hash = Mix(hash, trace[node.block].size);
  for (uint32_t i = 0; i < node.accesses.count; ++i) {
    const Access& access = trace.accesses[node.accesses.first + i];
    hash = Mix(hash, static_cast<uint64_t>(access.mode));
    hash = Mix(Mix(hash, access.offset), access.length);
    if (access.rows.width != 0) hash = Mix(Mix(hash, access.rows.width), access.rows.pitch);
    if (access.block) hash = Mix(hash, trace[access.block].size);
  }
  return hash;
}

// The edges that the nodes of a view see.
void AddNeighbours(const Ran& trace, const std::vector<uint32_t>& numbers, const Grouped& edges,
                   NodeId Edge::*far, const std::vector<NodeId>& nodes,
                   std::vector<uint32_t>& first, std::vector<Neighbour>& list) {
  first.push_back(0);
  for (const NodeId node : nodes) {
    for (const uint32_t id : edges.Of(node.index())) {
      const Edge& edge = trace.edges[id];
      const uint32_t data = uint32_t{edge.from_port} | uint32_t{edge.to_port} << 8 |
                            static_cast<uint32_t>(edge.type) << 16;
      list.push_back({numbers[(edge.*far).index()], data, EdgeId(id)});
    }
    first.push_back(static_cast<uint32_t>(list.size()));
  }
}

// Adds what the neighbours are to a hash, whatever their order.
uint64_t MixNeighbours(uint64_t hash, std::span<const Neighbour> neighbours,
                       const std::vector<uint64_t>& hashes, std::vector<uint64_t>& scratch) {
  scratch.clear();
  for (const Neighbour& neighbour : neighbours) {
    scratch.push_back(Mix(hashes[neighbour.node], neighbour.data));
  }
  std::ranges::sort(scratch);
  for (const uint64_t value : scratch) hash = Mix(hash, value);
  return hash;
}

// How many nodes hold the graph, one in another. A broken trace's ring ends somewhere.
uint32_t Depth(const Ran& trace, GraphId graph) {
  constexpr uint32_t kDeepest = 64;
  uint32_t depth = 0;
  for (NodeId holder = trace[graph].parent; holder && depth < kDeepest; ++depth) {
    const GraphId outer = trace[holder].graph;
    if (!outer) break;
    holder = trace[outer].parent;
  }
  return depth;
}

// Adds to each node's hash what is on its stream, whatever stream that is.
void MixStreams(const GraphView& view, std::vector<uint64_t>& hashes) {
  std::map<StreamId, uint64_t> on_stream;
  for (size_t i = 0; i < hashes.size(); ++i) on_stream[view.streams[i]] += Mix(hashes[i], 2);
  if (on_stream.size() < 2) return;
  for (size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = Mix(hashes[i], on_stream[view.streams[i]]);
  }
}

// A graph as a whole, whatever its ids and the numbering of its streams. The same in all builds, as
// long as NodeKind and the like keep their values.
uint64_t GraphHash(const GraphView& view) {
  std::vector<uint64_t> forward = ConeHashes(view, view.labels, true);
  const std::vector<uint64_t> backward = ConeHashes(view, view.labels, false);
  for (size_t i = 0; i < forward.size(); ++i) forward[i] = Mix(forward[i], backward[i]);
  MixStreams(view, forward);
  std::ranges::sort(forward);
  uint64_t hash = forward.size();
  for (const uint64_t value : forward) hash = Mix(hash, value);
  return hash;
}

// Tells the holders what they hold, from the inside out.
void LabelHolders(const Ran& trace, const std::vector<uint32_t>& numbers,
                  std::vector<GraphView>& views) {
  std::vector<std::pair<uint32_t, GraphId>> held;
  for (size_t i = 0; i < views.size(); ++i) {
    if (trace.graphs[i].parent) held.push_back({Depth(trace, GraphId(i)), GraphId(i)});
  }
  std::ranges::sort(held, std::ranges::greater(), [](const auto& entry) { return entry.first; });
  for (const auto& [depth, graph] : held) {
    const NodeId holder = trace[graph].parent;
    const uint32_t number = numbers[holder.index()];
    if (number == kNowhere) continue;
    uint64_t& label = views[trace[holder].graph.index()].labels[number];
    label += Mix(GraphHash(views[graph.index()]), trace[graph].body);  // in any order
  }
}

// Adds the hashes, told apart where they are equal: the first, the second, … of its kind.
void AddNumbered(std::vector<uint64_t> hashes, std::vector<uint32_t>& sample) {
  std::ranges::sort(hashes);
  uint32_t number = 0;
  for (size_t i = 0; i < hashes.size(); ++i) {
    number = i > 0 && hashes[i] == hashes[i - 1] ? number + 1 : 0;
    sample.push_back(static_cast<uint32_t>(Mix(hashes[i], number) >> 32));
  }
}

}  // namespace

GraphContent ContentOf(const GraphView& view) {
  GraphContent content{.hash = GraphHash(view)};
  AddNumbered(view.names, content.sample);
  AddNumbered(view.labels, content.sample);
  SortUnique(&content.sample);
  if (content.sample.size() > GraphContent::kSampled) {
    content.sample.resize(GraphContent::kSampled);
  }
  return content;
}

std::vector<GraphContent> ContentsOf(const std::vector<GraphView>& views) {
  std::vector<GraphContent> contents;
  for (const GraphView& view : views) contents.push_back(ContentOf(view));
  return contents;
}

uint64_t HashText(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// The finalizer of MurmurHash3 (public domain, Austin Appleby) over a sum that depends on order.
uint64_t Mix(uint64_t hash, uint64_t value) {
  uint64_t mixed = (hash * 0x9e3779b97f4a7c15u) ^ value;
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdu;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53u;
  return mixed ^ (mixed >> 33);
}

std::vector<GraphView> ViewGraphs(const Ran& trace) {
  std::vector<GraphView> views(trace.graphs.size());
  for (size_t i = 0; i < views.size(); ++i) views[i].graph = GraphId(i);
  std::vector<uint32_t> numbers(trace.nodes.size(), kNowhere);
  const std::vector<uint64_t> kernels = HashKernels(trace);
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    if (!node.graph) continue;
    GraphView& view = views[node.graph.index()];
    numbers[id.index()] = static_cast<uint32_t>(view.nodes.size());
    view.nodes.push_back(id);
    view.streams.push_back(node.stream);
    view.names.push_back(NameHash(node, kernels));
    view.labels.push_back(Mix(view.names.back(), ParameterHash(trace, node)));
    view.is_kernel.push_back(node.kernel && trace[node.kernel].name);
  }
  const Grouped out = EdgesBy(trace, &Edge::from), in = EdgesBy(trace, &Edge::to);
  for (GraphView& view : views) {
    AddNeighbours(trace, numbers, out, &Edge::to, view.nodes, view.first_out, view.out);
    AddNeighbours(trace, numbers, in, &Edge::from, view.nodes, view.first_in, view.in);
  }
  LabelHolders(trace, numbers, views);
  return views;
}

std::vector<uint64_t> ConeHashes(const GraphView& view, const std::vector<uint64_t>& labels,
                                 bool forward) {
  std::vector<uint64_t> hashes = labels;
  std::vector<uint32_t> waiting(view.size()), ready;
  std::vector<uint64_t> scratch;
  for (uint32_t node = 0; node < view.size(); ++node) {
    waiting[node] = static_cast<uint32_t>(forward ? view.In(node).size() : view.Out(node).size());
    if (waiting[node] == 0) ready.push_back(node);
  }
  while (!ready.empty()) {
    const uint32_t node = ready.back();
    ready.pop_back();
    const auto before = forward ? view.In(node) : view.Out(node);
    hashes[node] = MixNeighbours(labels[node], before, hashes, scratch);
    for (const Neighbour& next : forward ? view.Out(node) : view.In(node)) {
      if (--waiting[next.node] == 0) ready.push_back(next.node);
    }
  }
  return hashes;
}

}  // namespace graphkit
