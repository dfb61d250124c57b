#include "libgraphkit/io/import/trace_maker.h"

#include <cctype>
#include <queue>

#include "libgraphkit/checked_number.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

// Of the nodes whose predecessors are all there, always the first listed one.
std::optional<std::vector<uint32_t>> TopologicalOrder(size_t nodes,
                                                      const std::vector<DraftEdge>& edges) {
  std::vector<uint32_t> missing(nodes);
  for (const DraftEdge& edge : edges) ++missing[edge.to];
  Grouped leaving;
  leaving.Assign(edges.size(), nodes, [&](size_t i) { return edges[i].from; });
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < nodes; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const uint32_t e : leaving.Of(node)) {
      if (--missing[edges[e].to] == 0) ready.push(edges[e].to);
    }
  }
  if (order.size() < nodes) return std::nullopt;
  return order;
}

NodeId AddNode(const DraftNode& from, GraphId graph, TraceMaker& make) {
  Node node{.graph = graph,
            .kind = from.kind,
            .source = Source::kImported,
            .conditional = from.conditional};
  if (from.kind == NodeKind::kKernel) make.SetKernel(node, from.kernel, from.shape);
  if (from.kind == NodeKind::kEventRecord || from.kind == NodeKind::kEventWait) {
    node.event = make.Event(from.event);
  }
  const NodeId id = make.AddNode(node, from.tool_id);
  if (!from.label.empty()) make.SetLabel(id, from.label);
  return id;
}

// Tools' words for kinds beside the names in traces.
constexpr std::pair<std::string_view, NodeKind> kOtherWords[] = {
    {"CHILDGRAPH", NodeKind::kChildGraph}, {"SUBGRAPH", NodeKind::kChildGraph},
    {"WAITEVENT", NodeKind::kEventWait},   {"RECORDEVENT", NodeKind::kEventRecord},
    {"IF", NodeKind::kConditional},        {"WHILE", NodeKind::kConditional},
    {"SWITCH", NodeKind::kConditional},
};

}  // namespace

TraceMaker::TraceMaker() {
  trace.process.device = DeviceKind::kImported;
  trace.process.seq = Next();
}

void TraceMaker::SetBegin(int64_t first, bool since_1970) {
  if (first <= 1) first = 2;
  begin_ns_ = first - 1;  // a time of 0 would mean that it isn't known
  if (!since_1970) return;
  trace.clocks.push_back({.monotonic = 0, .wall = begin_ns_, .seq = Next()});
}

void TraceMaker::SetTime(int64_t time, size_t expected) {
  SetTimes(trace.records - 1, time, expected);
}

void TraceMaker::SetTimes(Seq first, int64_t time, size_t expected) {
  if (begin_ns_ == 0 || time <= begin_ns_) return;
  if (trace.times.capacity() < trace.records) {
    trace.times.reserve(std::max<size_t>(trace.records + expected, size_t{trace.records} * 2));
  }
  trace.times.resize(first);
  trace.times.resize(trace.records, static_cast<Nanoseconds>(time - begin_ns_));
}

StreamId TraceMaker::Stream(uint32_t device, uint64_t handle) {
  graphkit::Stream stream;
  stream.handle = handle;
  stream.kind = handle == 0 ? StreamKind::kLegacyDefault : StreamKind::kCreated;
  stream.device = Narrow<int16_t>(device).value_or(-1);
  return Once(streams_[{device, handle}], trace.streams, &Stream::created, stream);
}

StreamId TraceMaker::NamedStream(uint32_t device, std::string_view name) {
  graphkit::Stream stream;
  stream.device = Narrow<int16_t>(device).value_or(-1);
  stream.name = Intern(name);
  return Once(named_streams_[{device, stream.name}], trace.streams, &Stream::created, stream);
}

ThreadId TraceMaker::Thread(int64_t tid) {
  return Once(threads_[tid], trace.threads, &Thread::created, {.tid = tid});
}

EventId TraceMaker::Event(uint64_t handle) {
  return Once(events_[handle], trace.events, &Event::created, {.handle = handle});
}

void TraceMaker::SetKernel(Node& node, std::string_view name, const LaunchShape& shape) {
  const StringId text = Intern(name.empty() ? "unknown kernel" : name);
  node.kernel = Once(kernels_[text], trace.kernels, &Kernel::created, {.name = text});
  node.shape = Shape(shape);
}

uint32_t TraceMaker::Shape(const LaunchShape& shape) {
  const auto next = static_cast<uint32_t>(trace.shapes.size());
  const auto& [g, b, shared] = shape;
  const auto [at, added] =
      shapes_.emplace(std::array{g[0], g[1], g[2], b[0], b[1], b[2], shared}, next);
  if (added) trace.shapes.push_back(shape);
  return at->second;
}

PoolId TraceMaker::AddPool(PoolKind kind, std::string_view name, uint64_t handle) {
  return Add<PoolId>(trace.pools, &Pool::created,
                     {.kind = kind, .name = Intern(name), .handle = handle});
}

GraphId TraceMaker::AddGraph(std::string_view name, uint64_t tool_id) {
  return Add<GraphId>(trace.graphs, &Graph::created,
                      {.origin = GraphOrigin::kImported, .tool_id = tool_id, .name = Intern(name)});
}

BlockId TraceMaker::AddBlock(const Block& block) {
  return Add<BlockId>(trace.blocks, &Block::allocated, block);
}

NodeId TraceMaker::AddNode(const Node& node, uint64_t tool_id) {
  const NodeId id = Add<NodeId>(trace.nodes, &Node::seq, node);
  if (tool_id != 0) tool_ids_[id] = tool_id;
  return id;
}

void TraceMaker::AddEdge(NodeId from, NodeId to, Source source, const Edge& data) {
  Edge edge = data;
  edge.from = from;
  edge.to = to;
  edge.source = source;
  Add<EdgeId>(trace.edges, &Edge::seq, edge);
}

StackId TraceMaker::AddStack(const std::vector<StackFrame>& frames) {
  const Slice run = {static_cast<uint32_t>(trace.stack_frames.size()),
                     static_cast<uint32_t>(frames.size())};
  trace.stack_frames.insert(trace.stack_frames.end(), frames.begin(), frames.end());
  return Add<StackId>(trace.stacks, &Stack::created, {.frames = run});
}

void TraceMaker::SetLabel(NodeId node, std::string_view text) {
  trace.node_labels.push_back({trace[node].seq, Intern(text)});
}

void TraceMaker::Free(BlockId id, StreamId stream) {
  trace.blocks.Change(id.index(), [&](Block& block) {
    block.free_stream = stream;
    block.free_requested = block.free_completed = Next();
  });
}

void TraceMaker::AllocateAt(const Block& block) {
  // What lay there was freed unseen.
  if (!live_.insert_or_assign(block.address, AddBlock(block)).second) ++unmatched_;
}

void TraceMaker::FreeAt(Address address, StreamId stream) {
  const auto at = live_.find(address);
  if (at == live_.end()) {
    Next();
    ++unmatched_;
    return;
  }
  Free(at->second, stream);
  live_.erase(at);
}

void TraceMaker::NoteUnmatched(std::string_view what) {
  if (unmatched_ == 0) return;
  Note(std::string(what) + " lacks the other end of " + Counted(unmatched_, "allocation") +
       " or free" + (unmatched_ == 1 ? "" : "s"));
}

void TraceMaker::Note(std::string_view text) {
  trace.completeness.notes.emplace_back(text);
  Next();
}

std::string CountsOf(const Trace& trace) {
  return Counted(trace.graphs.size(), "graph") + ", " + Counted(trace.nodes.size(), "node") + ", " +
         Counted(trace.edges.size(), "edge");
}

Imported TraceMaker::Finish(std::string_view summary) {
  trace.imported_from.push_back({.summary = Intern(summary), .seq = Next()});
  return {.trace = std::move(trace), .tool_ids = std::move(tool_ids_)};
}

std::string WordOf(std::string_view name) {
  std::string word;
  for (const char c : name) {
    if (c == ' ' || c == '_') continue;
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (word.ends_with("NODE") && word.size() > 4) word.resize(word.size() - 4);
  return word;
}

NodeKind KindNamed(std::string_view name) {
  static const std::map<std::string, NodeKind, std::less<>> kKinds = [] {
    std::map<std::string, NodeKind, std::less<>> kinds(std::begin(kOtherWords),
                                                       std::end(kOtherWords));
    const auto& names = Names<NodeKind>::value;
    for (size_t i = 0; i < names.size(); ++i) kinds[WordOf(names[i])] = static_cast<NodeKind>(i);
    return kinds;
  }();
  const std::string word = WordOf(name);
  if (const auto known = kKinds.find(word); known != kKinds.end()) return known->second;
  const bool semaphore = word.starts_with("EXT") && word.find("SEM") != std::string::npos;
  if (semaphore && word.ends_with("SIGNAL")) return NodeKind::kExternalSemaphoreSignal;
  if (semaphore && word.ends_with("WAIT")) return NodeKind::kExternalSemaphoreWait;
  return NodeKind::kUnknown;
}

Result<DraftedGraph> AddDraft(const GraphDraft& draft, TraceMaker& make) {
  std::vector<DraftEdge> edges = draft.edges;
  SortUnique(&edges);
  const auto order = TopologicalOrder(draft.nodes.size(), edges);
  if (!order) {
    return Error{.message = "the edges of graph '" + draft.name + "' go round in a circle"};
  }
  DraftedGraph out;
  out.graph = make.AddGraph(draft.name, draft.tool_id);
  out.nodes.resize(draft.nodes.size());
  for (const uint32_t node : *order) {
    out.nodes[node] = AddNode(draft.nodes[node], out.graph, make);
  }
  for (const DraftEdge& edge : edges) {
    make.AddEdge(out.nodes[edge.from], out.nodes[edge.to], Source::kImported,
                 {.from_port = edge.from_port, .to_port = edge.to_port, .type = edge.type});
  }
  return out;
}

}  // namespace graphkit
