#include "libgraphkit/analysis/order/slice.h"

#include "libgraphkit/analysis/order/frontier.h"

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

class Collector {
 public:
  Collector(const Trace& trace, std::span<const GraphId> roots)
      : trace_(trace), roots_(roots), graphs_(trace.graphs.size()), last_(trace.streams.size()) {}

  void AddNodes(std::vector<uint32_t>* numbers) {
    numbers->resize(trace_.nodes.size());
    for (uint32_t i = 0; i < trace_.nodes.size(); ++i) {
      const GraphId root = RootOf(trace_.nodes[i].graph);
      if (!root.valid()) continue;
      Add(i, &graphs_[root.index()].nodes, numbers);
      AddStream(root, trace_.nodes[i].stream);
    }
  }

  void AddBlocks(std::span<const std::vector<BlockId>> blocks, std::vector<uint32_t>* numbers) {
    numbers->resize(trace_.blocks.size());
    for (uint32_t root = 0; root < blocks.size(); ++root) {
      for (const BlockId block : blocks[root]) {
        Add(block.value, &graphs_[root].blocks, numbers);
        AddStream(GraphId(root), trace_[block].stream);
      }
    }
  }

  void AddCaptures() {
    for (uint32_t i = 0; i < trace_.captures.size(); ++i) {
      const GraphId root = RootOf(trace_.captures[i].graph);
      if (!root.valid()) continue;
      graphs_[root.index()].captures.push_back(i);
      AddStream(root, trace_.captures[i].origin);
    }
  }

  // An operation says something to each graph that its stream or event was or is in.
  void AddStreamOps() {
    FrontierReplay replay(trace_, WholeTrace(trace_));
    for (uint32_t i = 0; i < trace_.stream_ops.size(); ++i) {
      const StreamOp& op = trace_.stream_ops[i];
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
    Collected rows = std::exchange(graphs_[root.index()], {});
    for (std::vector<uint32_t>* some : {&rows.streams, &rows.events}) {
      std::ranges::sort(*some);
      some->erase(std::unique(some->begin(), some->end()), some->end());
    }
    return rows;
  }

 private:
  GraphId RootOf(GraphId graph) const {
    return graph.index() < roots_.size() ? roots_[graph.index()] : GraphId();
  }
  static void Add(uint32_t row, std::vector<uint32_t>* rows, std::vector<uint32_t>* numbers) {
    (*numbers)[row] = static_cast<uint32_t>(rows->size());
    rows->push_back(row);
  }
  // Mostly one that the graph has already.
  void AddStream(GraphId root, StreamId stream) {
    if (stream.index() >= last_.size() || last_[stream.index()] == root) return;
    last_[stream.index()] = root;
    graphs_[root.index()].streams.push_back(stream.value);
  }
  void AddStreamOp(uint32_t number, GraphId root) {
    if (!root.valid()) return;
    const StreamOp& op = trace_.stream_ops[number];
    graphs_[root.index()].stream_ops.push_back(number);
    AddStream(root, op.stream);
    if (op.event.index() < trace_.events.size()) {
      graphs_[root.index()].events.push_back(op.event.value);
    }
  }

  const Trace& trace_;
  std::span<const GraphId> roots_;
  std::vector<Collected> graphs_;  // by root
  std::vector<GraphId> last_;      // by stream: the graph that got it last
};

}  // namespace

GraphSlice WholeTrace(const Trace& trace) {
  return {.root = {},
          .nodes = Rows::All(trace.nodes.size()),
          .blocks = Rows::All(trace.blocks.size()),
          .stream_ops = Rows::All(trace.stream_ops.size()),
          .captures = Rows::All(trace.captures.size()),
          .streams = Rows::All(trace.streams.size()),
          .events = Rows::All(trace.events.size())};
}

Slices::Slices(const Trace& trace, std::span<const GraphId> roots,
               std::span<const std::vector<BlockId>> blocks) {
  Collector collector(trace, roots);
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
