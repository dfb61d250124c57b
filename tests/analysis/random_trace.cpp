#include "tests/analysis/random_trace.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr Ternary kWaits[] = {Ternary::kUnknown, Ternary::kNo, Ternary::kYes};

class Maker {
 public:
  Maker(uint64_t seed, const RandomTraceOptions& options) : random_(seed), options_(options) {}

  Ran Make() {
    for (size_t i = 0; i < 3; ++i) {
      kernels_[i] = t_.Function(options_.memory && Chance(0.3) ? "_Z1kPf" : "k", kWaits[i]);
    }
    if (options_.pools) OutsideMemory();
    if (options_.nested && Chance(0.3)) ExplicitGraph(t_.Graph());
    const int captures = Chance(0.2) ? 2 : 1;
    for (int i = 0; i < captures; ++i) Begin();
    const int steps = Below(options_.max_steps) + 3;
    for (int i = 0; i < steps; ++i) Step(Any(streams_));
    for (const StreamId origin : origins_) t_.EndCapture(origin);
    if (Chance(0.2)) TakeAway();
    Ran trace = t_.Build();
    for (graphkit::Kernel& kernel : trace.kernels)
      kernel.has_layout = !options_.memory || Chance(0.9);
    if (!options_.pools) return trace;
    for (const auto& [segment, block] : backing_) trace.segments[segment.index()].block = block;
    trace.nodes.ChangeAll([&](Node& node) { node.duration_ns = static_cast<uint32_t>(Below(50)); });
    return trace;
  }

 private:
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  template <typename T>
  const T& Any(const std::vector<T>& items) {
    return items[static_cast<size_t>(Below(static_cast<int>(items.size())))];
  }
  KernelId AnyKernel() { return kernels_[static_cast<size_t>(Below(3))]; }

  void Begin() {
    const int streams = 1 + Below(options_.max_streams);
    for (int i = 0; i < streams; ++i) streams_.push_back(t_.Stream());
    origins_.push_back(streams_[streams_.size() - static_cast<size_t>(streams)]);
    graphs_.resize(streams_.size());
    graphs_[origins_.back().index()] = t_.BeginCapture(origins_.back());
  }

  void Step(StreamId stream) {
    if (!t_.Capturing(stream)) {
      Join(Any(origins_), stream);
      return;
    }
    if (Chance(options_.allocator_steps)) return Memory(stream);
    const int what = Below(100);
    if (what < 40) {
      Kernel(stream);
    } else if (what < 62) {
      Join(stream, Any(streams_));
    } else if (what < 70 && options_.partial_edges) {
      WithEvent(stream, Any(streams_));
    } else if (what < 76 && options_.rewinds) {
      Rewind(stream);
    } else if (what < 84 && options_.nested) {
      Nested(stream);
    } else if (options_.memory) {
      Memory(stream);
    } else {
      t_.Empty(stream);
    }
  }

  void Kernel(StreamId stream) {
    const std::vector<Access> accesses = SomeAccesses();
    if (options_.partial_edges && Chance(0.3)) {
      t_.ProgrammaticKernel(stream, AnyKernel(), accesses);
    } else {
      t_.Kernel(stream, AnyKernel(), accesses);
    }
  }

  // Only streams of one capture can be joined.
  bool CanJoin(StreamId before, StreamId after) const {
    return !t_.Capturing(after) || GraphOf(before) == GraphOf(after);
  }
  GraphId GraphOf(StreamId stream) const { return graphs_[stream.index()]; }

  void Join(StreamId before, StreamId after) {
    if (!CanJoin(before, after)) return;
    if (!t_.Capturing(after)) graphs_[after.index()] = GraphOf(before);
    t_.Order(before, after);
  }

  void WithEvent(StreamId stream, StreamId waiter) {
    const EventId event = t_.Event();
    t_.KernelWithEvent(stream, event, static_cast<uint8_t>(1 + Below(2)));
    if (waiter == stream || !CanJoin(stream, waiter)) return;
    graphs_[waiter.index()] = GraphOf(stream);
    t_.Wait(waiter, event);
  }

  void Rewind(StreamId stream) {
    const GraphId graph = GraphOf(stream);
    std::vector<NodeId> nodes;
    for (size_t i = 0; i < t_.trace().nodes.size(); ++i) {
      if (t_.trace().nodes[i].graph == graph) nodes.emplace_back(i);
    }
    if (nodes.empty()) return;
    const FrontierEntry entry{.node = Any(nodes)};
    if (Chance(0.3)) {
      t_.AddToFrontier(stream, {entry});
    } else if (Chance(0.2)) {
      t_.SetFrontier(stream, {});
    } else {
      t_.SetFrontier(stream, {entry});
    }
  }

  void Nested(StreamId stream) {
    if (Chance(0.5)) {
      const GraphId original = t_.Graph();
      ExplicitGraph(original);
      t_.ChildGraph(stream, original);
      return;
    }
    const NodeId node = t_.Conditional(stream, ConditionalType::kIf);
    ExplicitGraph(t_.Body(node));
    if (Chance(0.5)) ExplicitGraph(t_.Body(node));
  }

  void ExplicitGraph(GraphId graph) {
    std::vector<NodeId> nodes;
    const int count = 1 + Below(5);
    for (int i = 0; i < count; ++i) {
      nodes.push_back(t_.Add(graph, Chance(0.9) ? NodeKind::kKernel : NodeKind::kEmpty));
    }
    std::shuffle(nodes.begin(), nodes.end(), random_);
    for (size_t to = 1; to < nodes.size(); ++to) {
      for (size_t from = 0; from < to; ++from) {
        if (Chance(0.4)) edges_.push_back(ConnectSomehow(nodes[from], nodes[to]));
      }
    }
  }

  EdgeId ConnectSomehow(NodeId from, NodeId to) {
    if (options_.partial_edges && Chance(0.2)) {
      return t_.Connect(from, to, static_cast<uint8_t>(1 + Below(2)), EdgeType::kProgrammatic);
    }
    return t_.Connect(from, to);
  }

  void TakeAway() {
    if (!edges_.empty() && Chance(0.7)) t_.Remove(Any(edges_));
    const auto all = static_cast<int>(t_.trace().edges.size());
    if (all > 0 && Chance(0.5)) t_.Remove(EdgeId(static_cast<size_t>(Below(all))));
    if (t_.trace().nodes.empty()) return;
    const NodeId node = t_.last_node();
    if (Chance(0.3)) t_.Destroy(node);
    if (Chance(0.3)) t_.Destroy(t_.trace()[node].graph);
  }

  // Memory.
  std::vector<Access> SomeAccesses() {
    std::vector<Access> accesses;
    if (!options_.memory || live_.empty()) return accesses;
    const int count = Below(4);
    for (int i = 0; i < count; ++i) {
      const Bytes length = Chance(0.5) ? kLengthUnknown : 256;
      accesses.push_back({.block = Any(live_),
                          .mode = static_cast<AccessMode>(Below(4)),
                          .offset = static_cast<Bytes>(Below(2)) * 256,
                          .length = length});
    }
    return accesses;
  }

  void Memory(StreamId stream) {
    const int what = Below(10);
    if (what < 5 || live_.empty()) {
      const Bytes size = static_cast<Bytes>(1 + Below(8)) * 512;
      live_.push_back(Chance(options_.memory_nodes) ? t_.AllocNode(stream, size)
                                                    : Alloc(stream, size));
      return;
    }
    const size_t at = static_cast<size_t>(Below(static_cast<int>(live_.size())));
    const BlockId block = live_[at];
    if (what < 6) {
      t_.RecordStream(block, stream);
      return;
    }
    live_.erase(live_.begin() + static_cast<ptrdiff_t>(at));
    if (t_.trace()[block].alloc_node.valid()) {
      t_.FreeNode(stream, block);
    } else {
      Free(block);
    }
  }

  // A pool of each kind; two that hand out of segments, and what was there before any graph.
  void OutsideMemory() {
    for (size_t kind = 0; kind <= static_cast<size_t>(PoolKind::kManaged); ++kind) {
      pools_.push_back(t_.Pool(static_cast<PoolKind>(kind)));
    }
    for (const PoolKind kind : {PoolKind::kAllocator, PoolKind::kPrivate}) {
      const SegmentId segment = t_.Segment(pools_[static_cast<size_t>(kind)], kSegment);
      segments_.push_back(segment);
      if (Chance(0.2)) continue;  // seen by the allocator's own records alone
      t_.SetPool(pools_[0]);
      backing_.push_back({segment, t_.AllocAt({}, kSegment, t_.trace()[segment].address)});
    }
    for (int i = 0; i < 2; ++i) {
      t_.SetPool(Any(pools_));
      live_.push_back(t_.Alloc({}, static_cast<Bytes>(1 + Below(4)) * 512));
    }
  }

  BlockId Alloc(StreamId stream, Bytes size) {
    if (!options_.pools) return t_.Alloc(stream, size);
    if (Chance(0.5)) {
      const SegmentId segment = Any(segments_);
      const Address place = static_cast<Address>(Below(4)) * 512;
      t_.SetPool(t_.trace()[segment].pool);
      return t_.AllocAt(stream, size, t_.trace()[segment].address + place, segment);
    }
    t_.SetPool(Any(pools_));
    return t_.AllocAt(stream, size, 512 * static_cast<Address>(1 + Below(8)));
  }

  void Free(BlockId block) {
    if (!options_.pools || Chance(0.6)) return t_.Free(block);
    t_.RequestFree(block);
    deferred_.push_back(block);
    if (Chance(0.5)) return;
    t_.CompleteFree(deferred_.front());
    deferred_.erase(deferred_.begin());
  }

  static constexpr Bytes kSegment = 16 * 512;

  std::mt19937_64 random_;
  RandomTraceOptions options_;
  TraceBuilder t_;
  std::array<KernelId, 3> kernels_;
  std::vector<StreamId> streams_;
  std::vector<StreamId> origins_;
  std::vector<GraphId> graphs_;  // by stream: the capture that it is or was in
  std::vector<EdgeId> edges_;
  std::vector<BlockId> live_;
  std::vector<PoolId> pools_;
  std::vector<SegmentId> segments_;
  std::vector<std::pair<SegmentId, BlockId>> backing_;
  std::vector<BlockId> deferred_;
};

}  // namespace

Ran RandomTrace(uint64_t seed, const RandomTraceOptions& options) {
  return Maker(seed, options).Make();
}

}  // namespace graphkit
