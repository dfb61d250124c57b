#include "libgraphkit/analysis/order/frontier.h"

#include <utility>

#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// The rows of one graph, while they are collected.
struct Collected {
  std::vector<uint32_t> nodes = {};
  std::vector<uint32_t> blocks = {};
  std::vector<uint32_t> stream_ops = {};
  std::vector<uint32_t> captures = {};
  std::vector<uint32_t> streams = {};
  std::vector<uint32_t> events = {};
};

struct Collector {
  void AddNodes(std::vector<uint32_t>* numbers) {
    numbers->resize(trace.nodes.size());
    for (uint32_t i = 0; i < trace.nodes.size(); ++i) {
      const GraphId root = RootOf(trace.nodes[i].graph);
      if (!root.valid()) continue;
      Add(i, &graphs[root.index()].nodes, numbers);
      AddStream(root, trace.nodes[i].stream);
    }
  }

  void AddBlocks(std::span<const std::vector<BlockId>> blocks, std::vector<uint32_t>* numbers) {
    numbers->resize(trace.blocks.size());
    for (uint32_t root = 0; root < blocks.size(); ++root) {
      for (const BlockId block : blocks[root]) {
        Add(block.value, &graphs[root].blocks, numbers);
        AddStream(GraphId(root), trace[block].stream);
      }
    }
  }

  void AddCaptures() {
    for (uint32_t i = 0; i < trace.captures.size(); ++i) {
      const GraphId root = RootOf(trace.captures[i].graph);
      if (!root.valid()) continue;
      graphs[root.index()].captures.push_back(i);
      AddStream(root, trace.captures[i].origin);
    }
  }

  // An operation says something to each graph that its stream or event was or is in.
  void AddStreamOps() {
    FrontierReplay replay(trace, WholeTrace(trace));
    for (const auto& [i, op] : Enumerate<uint32_t>(trace.stream_ops)) {
      replay.AdvanceTo(op.seq);
      const GraphId before = RootOf(replay.Of(op.stream).graph);
      const GraphId event = RootOf(replay.OfEvent(op.event).graph);
      replay.AdvanceTo(op.seq + 1);
      const GraphId after = RootOf(replay.Of(op.stream).graph);
      AddStreamOp(i, before);
      if (after != before) AddStreamOp(i, after);
      if (event != before && event != after) AddStreamOp(i, event);
    }
  }

  // The collected rows of one graph; they are gone from here.
  Collected Take(GraphId root) {
    Collected rows = std::exchange(graphs[root.index()], {});
    for (std::vector<uint32_t>* some : {&rows.streams, &rows.events}) SortUnique(some);
    return rows;
  }

  GraphId RootOf(GraphId graph) const {
    return graph.index() < roots.size() ? roots[graph.index()] : GraphId();
  }
  static void Add(uint32_t row, std::vector<uint32_t>* rows, std::vector<uint32_t>* numbers) {
    (*numbers)[row] = static_cast<uint32_t>(rows->size());
    rows->push_back(row);
  }
  // Mostly one that the graph has already.
  void AddStream(GraphId root, StreamId stream) {
    if (stream.index() >= last.size() || last[stream.index()] == root) return;
    last[stream.index()] = root;
    graphs[root.index()].streams.push_back(stream.value);
  }
  void AddStreamOp(uint32_t number, GraphId root) {
    if (!root.valid()) return;
    const StreamOp& op = trace.stream_ops[number];
    graphs[root.index()].stream_ops.push_back(number);
    AddStream(root, op.stream);
    if (op.event.index() < trace.events.size()) {
      graphs[root.index()].events.push_back(op.event.value);
    }
  }

  const Ran& trace;
  std::span<const GraphId> roots;
  std::vector<Collected> graphs = std::vector<Collected>(trace.graphs.size());  // by root
  std::vector<GraphId> last =
      std::vector<GraphId>(trace.streams.size());  // by stream: the graph that got it last
};

}  // namespace

FrontierReplay::FrontierReplay(const Ran& trace, GraphSlice slice)
    : trace_(trace),
      slice_(std::move(slice)),
      streams_(slice_.streams.size()),
      events_(slice_.events.size()) {
  for (size_t i = 0; i < slice_.captures.size(); ++i) {
    const auto number = static_cast<uint32_t>(slice_.captures[i]);
    const Capture& capture = trace.captures[number];
    boundaries_.push_back({capture.begin, number, false});
    if (capture.end != kNever) boundaries_.push_back({capture.end, number, true});
  }
  std::ranges::sort(boundaries_, {}, &Boundary::seq);
}

// Mostly it's the next node's turn.
void FrontierReplay::AdvanceTo(Seq seq) {
  const Rows& nodes = slice_.nodes;
  const Rows& ops = slice_.stream_ops;
  while (true) {
    const Seq op = op_ < ops.size() ? trace_.stream_ops[ops[op_]].seq : kNever;
    const Seq boundary = boundary_ < boundaries_.size() ? boundaries_[boundary_].seq : kNever;
    const Seq other = std::min({op, boundary, seq});
    for (; node_ < nodes.size() && trace_.nodes[nodes[node_]].seq < other; ++node_)
      Apply(trace_.nodes[nodes[node_]], NodeId(nodes[node_]));
    if (other == seq) return;
    if (boundary == other) {
      Apply(boundaries_[boundary_++]);
    } else {
      Apply(trace_.stream_ops[ops[op_++]]);
    }
  }
}

void FrontierReplay::Apply(const Node& node, NodeId id) {
  const size_t number = slice_.streams.NumberOf(node.stream.index());
  if (number >= streams_.size()) return;
  if (streams_[number].graph != node.graph) Join(number, node.graph);
  Launch(number, id);
}

void FrontierReplay::Launch(size_t number, NodeId node) {
  StreamFrontier& stream = streams_[number];
  wide_.Forget(number, stream.entries);
  stream.entries.resize(1);
  stream.entries[0] = {.node = node};
  Moved(number);
}

void FrontierReplay::Join(size_t stream, GraphId graph) {
  streams_[stream].graph = graph;
  if (const auto open = open_.find(graph); open != open_.end()) open->second.push_back(stream);
}

void FrontierReplay::Leave(size_t number) {
  StreamFrontier& stream = streams_[number];
  wide_.Forget(number, stream.entries);
  stream = {.graph = {}, .version = stream.version};
  Moved(number);
}

std::span<const FrontierEntry> FrontierReplay::Entries(const StreamOp& op) const {
  return std::span(trace_.frontier_entries).subspan(op.entries.first, op.entries.count);
}

void FrontierReplay::Wait(size_t number, const StreamFrontier& event) {
  if (!open_.contains(event.graph)) return;
  StreamFrontier& stream = streams_[number];
  if (!stream.capturing()) {
    Join(number, event.graph);
    wide_.Forget(number, stream.entries);
    stream.entries.clear();
  }
  if (stream.graph != event.graph) return;
  wide_.Add(number, event.entries, &stream.entries);
  Moved(number);
}

void FrontierReplay::Apply(const StreamOp& op) {
  const size_t number = slice_.streams.NumberOf(op.stream.index());
  const size_t event = slice_.events.NumberOf(op.event.index());
  if (number >= streams_.size() || op.external) return;
  StreamFrontier& stream = streams_[number];
  switch (op.kind) {
    case StreamOpKind::kEventRecord:
      if (event >= events_.size()) return;
      events_[event].graph = stream.graph;
      if (op.has_entries) {
        const auto entries = Entries(op);
        events_[event].entries.assign(entries.begin(), entries.end());
      } else {
        events_[event].entries = stream.entries;
      }
      return;
    case StreamOpKind::kEventWait:
      if (event < events_.size()) Wait(number, events_[event]);
      return;
    case StreamOpKind::kSetFrontier:
      wide_.Forget(number, stream.entries);
      stream.entries.clear();
      [[fallthrough]];
    case StreamOpKind::kAddToFrontier:
      for (const FrontierEntry& entry : Entries(op)) stream.entries.push_back(entry);
      Moved(number);
      return;
    default:
      return;
  }
}

void FrontierReplay::Apply(const Boundary& boundary) {
  const Capture& capture = trace_.captures[boundary.capture];
  if (!boundary.end) {
    if (capture.graph.valid()) open_.try_emplace(capture.graph);
    const size_t number = slice_.streams.NumberOf(capture.origin.index());
    if (number >= streams_.size()) return;
    Leave(number);
    Join(number, capture.graph);
    return;
  }
  const auto ended = open_.extract(capture.graph);
  if (ended.empty()) return;
  for (const size_t number : ended.mapped()) {
    if (streams_[number].graph == capture.graph) Leave(number);
  }
}

GraphSlice WholeTrace(const Ran& trace) {
  return {.root = {},
          .nodes = Rows::All(trace.nodes.size()),
          .blocks = Rows::All(trace.blocks.size()),
          .stream_ops = Rows::All(trace.stream_ops.size()),
          .captures = Rows::All(trace.captures.size()),
          .streams = Rows::All(trace.streams.size()),
          .events = Rows::All(trace.events.size())};
}

Slices::Slices(const Ran& trace, std::span<const GraphId> roots,
               std::span<const std::vector<BlockId>> blocks) {
  Collector collector{trace, roots};
  collector.AddNodes(&node_numbers_);
  collector.AddBlocks(blocks, &block_numbers_);
  collector.AddCaptures();
  collector.AddStreamOps();
  for (uint32_t root = 0; root < trace.graphs.size(); ++root) {
    Collected rows = collector.Take(GraphId(root));
    slices_.push_back({GraphId(root), Rows(std::move(rows.nodes), node_numbers_),
                       Rows(std::move(rows.blocks), block_numbers_),
                       Rows(std::move(rows.stream_ops)), Rows(std::move(rows.captures)),
                       Rows(std::move(rows.streams)), Rows(std::move(rows.events))});
  }
}

}  // namespace graphkit
