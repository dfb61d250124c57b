// Random programs for the oracle of launch_oracle.h.
#pragma once

#include <map>
#include <vector>

#include "libgraphkit/random.h"
#include "tests/build_trace.h"
#include "tests/replay/launch_oracle.h"

namespace graphkit {

inline constexpr Bytes kCell = LaunchOracle::kCell;
inline constexpr Bytes kGranule = kBlockGranularity;
inline constexpr Bytes kSegment = 24 * kGranule;

// Graphs of one pool, in one segment: on several streams, with child graphs and bodies, blocks that
// are written in part, by nodes that are switched off or get other parameters, bytes that nodes
// reach where no block lies, and copies over several blocks; blocks that the pool hands out outside
// of captures, and work that fills them, or blocks of a capture while it goes on; launches of
// execs, also after an update to another graph.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    for (auto& stream : streams_) stream = t_.Stream();
    eager_ = t_.Stream();
    for (size_t i = 0; i < 4; ++i) {
      kernels_[i] = t_.Function("k", i % 2 == 0 ? Ternary::kYes : Ternary::kUnknown);
    }
    pool_ = t_.Pool(PoolKind::kPrivate, "pool");
    segment_ = t_.Segment(pool_, kSegment, streams_[0]);
    base_ = t_.trace()[segment_].address;
    backing_ = t_.AllocAt({}, kSegment, base_);
    t_.SetPool(pool_);
  }

  OracleProgram Build() {
    std::vector<GraphId> graphs;
    const uint64_t captures = 1 + random_.Below(3);
    for (uint64_t i = 0; i < captures; ++i) {
      while (Chance(0.25)) Outside();
      graphs.push_back(Capture());
      if (Chance(0.2)) ChangeSome({}, graphs.back());
      for (uint64_t execs = 1 + (Chance(0.2) ? 1 : 0); execs > 0; --execs) {
        execs_.push_back({t_.Instantiate(graphs.back()), {graphs.back()}, of_graphs_});
      }
    }
    while (Chance(0.15)) Outside();
    // Each exec twice: what is there may be launched at any time, with memory lent before.
    const size_t execs = execs_.size(), launches = 2 * execs + random_.Below(4);
    for (size_t i = 0; i < launches; ++i) {
      Exec& exec = execs_[i < 2 * execs ? i % execs : random_.Below(execs)];
      if (Chance(0.25)) ChangeSome(&exec, exec.graphs.back());
      if (Chance(0.1)) Update(&exec, graphs[random_.Below(graphs.size())]);
      if (Chance(0.15)) Outside();
      program_.launches.push_back({exec.graphs.back(), exec.nodes, t_.trace().records});
      launched_.push_back(exec.id);
      t_.Launch(exec.id, streams_[0]);
    }
    if (Chance(0.2)) Outside();
    for (size_t i = 0; i < t_.trace().nodes.size(); ++i) {
      program_.made[NodeId(i)] = {AccessesOf(NodeId(i)), t_.trace().nodes[i].seq};
    }
    for (const EagerWork& work : t_.trace().works) {
      const auto of = t_.trace().accesses.Of(work.accesses);
      program_.works.push_back({{of.begin(), of.end()}, work.seq});
    }
    program_.segment = backing_;
    for (const ExecId exec : launched_) {
      const auto of_exec = [&](const Exec& one) { return one.id == exec; };
      program_.ever.push_back(std::ranges::find_if(execs_, of_exec)->graphs);
    }
    program_.trace = t_.Build();
    for (size_t i = 0; i < program_.trace.kernels.size(); ++i) {
      program_.trace.kernels[i].has_layout = i < 3;  // the others may touch anything
    }
    program_.trace.segments[segment_.index()].block = backing_;
    return std::move(program_);
  }
  Address base() const { return base_; }

 private:
  struct Exec {
    ExecId id;
    std::vector<GraphId> graphs;  // that it ran, the last one now
    std::map<NodeId, NodeWorkload> nodes;
  };

  bool Chance(double p) { return random_.Chance(p); }
  BlockId Any(const std::vector<BlockId>& blocks) { return blocks[random_.Below(blocks.size())]; }
  StreamId AnyStream() { return streams_[random_.Below(3)]; }

  std::vector<Access> AccessesOf(NodeId node) const {
    const auto of = t_.trace().accesses.Of(t_.trace()[node].accesses);
    return {of.begin(), of.end()};
  }

  // Mostly of a block that lives, rarely of one that did, or by an address of the segment.
  std::optional<Access> SomeAccess() {
    if (Chance(0.04)) {
      return Ranged(Access{backing_, AnyMode(), random_.Below(kSegment / kCell) * kCell}, kSegment);
    }
    const bool gone = Chance(0.06) && !met_.empty();
    if (!gone && live_.empty()) return {};
    const BlockId block = gone ? Any(met_) : Any(live_);
    const Bytes size = t_.trace()[block].size;
    const bool from_start = Chance(0.75);
    return Ranged({block, AnyMode(), from_start ? 0 : random_.Below(size / kCell) * kCell}, size);
  }
  AccessMode AnyMode() {
    constexpr AccessMode kModes[] = {AccessMode::kWrite,     AccessMode::kWrite,
                                     AccessMode::kUnknown,   AccessMode::kRead,
                                     AccessMode::kReadWrite, AccessMode::kUnknown};
    return kModes[random_.Below(6)];
  }
  Access Ranged(Access access, Bytes size) {
    if (Chance(0.5)) return access;
    const Bytes left = size - access.offset;
    const Address end = t_.trace()[access.block].address + access.offset + left;
    access.length = Chance(0.6) ? left : (1 + random_.Below(left / kCell)) * kCell;
    // Over what lies behind the block, or nothing does.
    const Bytes behind = base_ + kSegment - end;
    if (behind > 0 && Chance(0.15))
      access.length = left + (1 + random_.Below(behind / kCell)) * kCell;
    return access;
  }
  std::vector<Access> SomeAccesses() {
    std::vector<Access> accesses;
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      if (const auto access = SomeAccess()) accesses.push_back(*access);
    }
    return accesses;
  }

  // Where no block is; none: there is no room.
  BlockId Alloc(StreamId stream) {
    const Bytes size = (1 + random_.Below(16)) * kCell;
    const Address first = base_ + random_.Below((kSegment - size) / kGranule) * kGranule;
    for (const BlockId id : live_) {
      const Block& block = t_.trace()[id];
      const Address end = block.address + RoundUp(block.size, kGranule);
      if (block.address < first + RoundUp(size, kGranule) && first < end) return {};
    }
    live_.push_back(t_.AllocAt(stream, size, first, segment_));
    met_.push_back(live_.back());
    return live_.back();
  }
  void FreeSome() {
    if (live_.empty()) return;
    const size_t at = random_.Below(live_.size());
    t_.Free(live_[at]);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  GraphId Capture() {
    const StreamId origin = streams_[0];
    const GraphId graph = t_.BeginCapture(origin);
    for (uint64_t i = 4 + random_.Below(14); i > 0; --i) Step(graph);
    for (const StreamId stream : streams_) {
      if (stream != origin && t_.Capturing(stream)) t_.Order(stream, origin);
    }
    while (!live_.empty() && Chance(0.85)) FreeSome();
    t_.EndCapture(origin);
    return graph;
  }

  void Step(GraphId graph) {
    const StreamId stream = AnyStream();
    if (!t_.Capturing(stream)) return t_.Order(streams_[0], stream);
    const uint64_t what = random_.Below(20);
    if (what < 5) {
      const BlockId block = Alloc(stream);
      if (block && Chance(0.8)) AddNode(stream, {FirstAccess(block)});
    } else if (what < 13) {
      AddNode(stream, SomeAccesses());
    } else if (what < 15) {
      const StreamId other = AnyStream();
      if (t_.Capturing(other)) t_.Order(other, stream);
    } else if (what < 16) {
      Nested(stream);
    } else if (what < 17 && Chance(0.3)) {
      Work();
    } else {
      FreeSome();
    }
    (void)graph;
  }
  Access FirstAccess(BlockId block) {
    if (Chance(0.3)) return Ranged({block, AnyMode(), 0}, t_.trace()[block].size);
    return {block, Chance(0.5) ? AccessMode::kUnknown : AccessMode::kWrite, 0,
            Chance(0.6) ? kLengthUnknown : t_.trace()[block].size};
  }
  void AddNode(StreamId stream, const std::vector<Access>& accesses) {
    const KernelId kernel = kernels_[random_.Below(4)];
    if (Chance(0.15)) {
      t_.ProgrammaticKernel(stream, kernel, accesses);
    } else {
      t_.Kernel(stream, kernel, accesses);
    }
  }
  void Nested(StreamId stream) {
    constexpr ConditionalType kTypes[] = {ConditionalType::kIf, ConditionalType::kWhile,
                                          ConditionalType::kSwitch};
    if (Chance(0.3)) {
      const GraphId original = t_.Graph();
      Fill(original);
      t_.ChildGraph(stream, original);
      return;
    }
    const NodeId node = t_.Conditional(stream, kTypes[random_.Below(3)]);
    Fill(t_.Body(node));
    if (Chance(0.4)) Fill(t_.Body(node));
  }
  void Fill(GraphId graph) {
    std::vector<NodeId> nodes;
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
      const NodeId node = t_.Add(graph, NodeKind::kKernel, {}, {});
      SetAccesses(node, SomeAccesses());
      if (!nodes.empty() && Chance(0.7)) t_.Connect(nodes[random_.Below(nodes.size())], node);
      nodes.push_back(node);
    }
  }
  void SetAccesses(NodeId node, const std::vector<Access>& accesses) {
    auto& trace = const_cast<Trace&>(t_.trace());
    const Slice slice = trace.accesses.Append(accesses);
    trace.nodes.Change(node.index(), [&](Node& of) { of.accesses = slice; });
  }

  // Some node of a graph is switched, or touches something else.
  void ChangeSome(Exec* exec, GraphId graph) {
    std::vector<NodeId> nodes;
    for (size_t i = 0; i < t_.trace().nodes.size(); ++i) {
      const Node& node = t_.trace().nodes[i];
      if (node.kind == NodeKind::kKernel && RootOf(t_.trace(), node.graph) == graph) {
        nodes.emplace_back(i);
      }
    }
    if (nodes.empty()) return;
    const NodeId node = nodes[random_.Below(nodes.size())];
    auto& changed = exec != nullptr ? exec->nodes : of_graphs_;
    const NodeWorkload made{AccessesOf(node), t_.trace()[node].seq};
    NodeWorkload& now = changed.try_emplace(node, made).first->second;
    const ExecId id = exec != nullptr ? exec->id : ExecId();
    if (exec != nullptr && Chance(0.5)) {
      now.off = !now.off;
      t_.Change(node, id, now.off ? NodeChangeKind::kDisabled : NodeChangeKind::kEnabled);
      return;
    }
    for (Access& access : now.accesses) {
      if (Chance(0.5)) continue;
      const BlockId block = met_.empty() ? access.block : Any(met_);
      access = Ranged({block, AnyMode(), 0}, t_.trace()[block].size);
    }
    now.seq = t_.trace().records;
    t_.Change(node, id, NodeChangeKind::kParams);
    auto& trace = const_cast<Trace&>(t_.trace());
    trace.node_changes.back().accesses = trace.accesses.Append(now.accesses);
  }

  // What is off in an exec stays off, in the other graph's node of its place: which that is isn't
  // said here.
  void Update(Exec* exec, GraphId graph) {
    if (std::ranges::any_of(exec->nodes, [](const auto& of) { return of.second.off; })) return;
    t_.Update(exec->id, graph);
    exec->graphs.push_back(graph);
    exec->nodes = of_graphs_;
  }

  void Work() {
    if (const auto access = SomeAccess()) t_.Work(eager_, "work", {*access});
  }
  void Outside() {
    if (Chance(0.5) && !met_.empty()) return Work();
    if (Chance(0.4)) return FreeSome();
    const BlockId block = Alloc(streams_[0]);
    if (block && Chance(0.7)) t_.Work(eager_, NodeKind::kMemset, {Writes(block)});
  }

  Random random_;
  TraceBuilder t_;
  StreamId streams_[3], eager_;
  KernelId kernels_[4];
  PoolId pool_;
  SegmentId segment_;
  Address base_ = 0;
  BlockId backing_;
  std::vector<BlockId> live_, met_;
  std::map<NodeId, NodeWorkload> of_graphs_;
  std::vector<Exec> execs_;
  std::vector<ExecId> launched_;
  OracleProgram program_;
};

}  // namespace graphkit
