// Memory that `graphkit borrow` lends, and its validator, against the oracle of launch_oracle.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/random.h"
#include "tests/build_trace.h"
#include "tests/random.h"
#include "tests/replay/launch_oracle.h"

namespace graphkit {
namespace {

constexpr MarkerRule kRule = MarkerRule::kLastUse;
constexpr Bytes kCell = LaunchOracle::kCell;
constexpr Bytes kGranule = kBlockGranularity;
constexpr Bytes kSegment = 24 * kGranule;

// Graphs of one pool, in one segment: on several streams, with child graphs and bodies, blocks that
// are written in part, by nodes that are switched off or get other parameters, and bytes that nodes
// reach where no block lies; launches, and work and blocks outside of them.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    for (auto& stream : streams_) stream = t_.Stream();
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
      graphs.push_back(Capture());
      if (Chance(0.2)) ChangeSome({}, graphs.back());
      for (uint64_t execs = 1 + (Chance(0.2) ? 1 : 0); execs > 0; --execs) {
        execs_.push_back({t_.Instantiate(graphs.back()), graphs.back(), of_graphs_});
      }
    }
    for (uint64_t i = 2 + random_.Below(6); i > 0; --i) {
      Exec& exec = execs_[random_.Below(execs_.size())];
      if (Chance(0.25)) ChangeSome(&exec, exec.graph);
      if (Chance(0.1)) Outside();
      program_.launches.push_back({exec.graph, exec.nodes});
      t_.Launch(exec.id, streams_[0]);
    }
    for (size_t i = 0; i < t_.trace().nodes.size(); ++i) {
      program_.made[NodeId(i)] = {AccessesOf(NodeId(i)), false};
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
    GraphId graph;
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
    access.length = Chance(0.6) ? left : (1 + random_.Below(left / kCell)) * kCell;
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
    NodeWorkload& now = changed.try_emplace(node, NodeWorkload{AccessesOf(node)}).first->second;
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
    t_.Change(node, id, NodeChangeKind::kParams);
    auto& trace = const_cast<Trace&>(t_.trace());
    trace.node_changes.back().accesses = trace.accesses.Append(now.accesses);
  }

  void Outside() {
    if (Chance(0.6) && !met_.empty()) {
      if (const auto access = SomeAccess()) t_.Work(streams_[0], "work", {*access});
      return;
    }
    if (Chance(0.5)) {
      Alloc(streams_[0]);
    } else {
      FreeSome();
    }
  }

  Random random_;
  TraceBuilder t_;
  StreamId streams_[3];
  KernelId kernels_[4];
  PoolId pool_;
  SegmentId segment_;
  Address base_ = 0;
  BlockId backing_;
  std::vector<BlockId> live_, met_;
  std::map<NodeId, NodeWorkload> of_graphs_;
  std::vector<Exec> execs_;
  OracleProgram program_;
};

// By launch: whether its graph allocated in the pool.
std::vector<bool> Members(const OracleProgram& program) {
  std::vector<bool> members;
  for (const OracleLaunch& launch : program.launches) {
    const auto of_graph = [&](const Block& block) { return block.graph == launch.root; };
    members.push_back(std::ranges::any_of(program.trace.blocks, of_graph));
  }
  return members;
}

// What is allocated outside of captures while memory is lent.
void AddEager(const OracleProgram& program, const std::vector<bool>& members, Address base,
              std::vector<bool>* unsafe) {
  Seq first = kNever, last = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i]) continue;
    first = std::min(first, program.trace.launches[i].seq);
    last = program.trace.launches[i].seq;
  }
  for (const Block& block : program.trace.blocks) {
    const bool there = block.allocated < last && block.free_completed > first;
    if (block.graph.valid() || block.size == kSegment || !there) continue;
    for (Bytes at = 0; at < RoundUp(block.size, kGranule); at += kCell) {
      (*unsafe)[(block.address - base + at) / kCell] = true;
    }
  }
}

constexpr uint64_t kOrders = 12;

TEST_CASE("bytes of a recorded pool are lent only if no execution needs them") {
  uint64_t lent = 0, lendable = 0, planted = 0, taken_safe = 0, pools_seen = 0;
  for (uint64_t seed = RandomSeed(), end = seed + static_cast<uint64_t>(RandomRounds(2000));
       seed < end; ++seed) {
    CAPTURE(seed);
    RandomProgram random_program(seed);
    const OracleProgram program = random_program.Build();
    const Address base = random_program.base();
    const Trace& trace = program.trace;
    const Facts facts(trace);
    std::vector<PoolBorrow> pools = FindBorrow(facts, kRule);
    const std::vector<bool> members = Members(program);
    if (pools.empty() || std::ranges::find(members, true) == members.end()) continue;
    ++pools_seen;
    const auto place = [&](BlockId block, Interval<Bytes> bytes, const auto& visit) {
      if (trace[block].address < base || trace[block].address >= base + kSegment) return;
      for (Bytes at = bytes.begin; at < bytes.end; at += kCell) {
        visit((trace[block].address - base + at) / kCell);
      }
    };
    LaunchOracle oracle(program, kSegment / kCell, place);
    for (uint64_t order = 0; order < kOrders; ++order) oracle.Run(members, seed * 100 + order);
    std::vector<bool> unsafe = oracle.unsafe();
    AddEager(program, members, base, &unsafe);

    const auto safe = [&](Bytes granule) {
      const auto first = unsafe.begin() + static_cast<std::ptrdiff_t>(granule / kCell);
      return std::find(first, first + kGranule / kCell, true) == first + kGranule / kCell;
    };
    for (const WrongBorrow& wrong : ValidateBorrow(facts, pools)) {
      CAPTURE(wrong.block.value);
      CAPTURE((wrong.at - base) / kGranule);
      REQUIRE(false);
    }
    for (const Interval<Address>& range : pools[0].free) {
      for (Address at = range.begin; at < range.end; at += kGranule) {
        CAPTURE((at - base) / kGranule);
        REQUIRE(safe(at - base));
        ++lent;
      }
    }
    // One more granule, whoever needs it: the validator takes only what is safe.
    for (Bytes granule = 0; granule < kSegment; granule += kGranule) {
      pools[0].free = {{base + granule, base + granule + kGranule}};
      const bool taken = ValidateBorrow(facts, pools).empty();
      CAPTURE(granule / kGranule);
      if (!safe(granule)) REQUIRE_FALSE(taken);
      planted += safe(granule) ? 0 : 1;
      taken_safe += safe(granule) && taken ? 1 : 0;
      lendable += safe(granule) ? 1 : 0;
    }
  }
  MESSAGE("seeds from " << RandomSeed() << ", " << pools_seen << " pools: " << lent << " of "
                        << lendable << " granules that may be lent are; " << planted
                        << " that may not are refused");
  CHECK(taken_safe == lent);  // finder and validator agree
  CHECK(lent * 100 > lendable * 80);
  CHECK(planted > pools_seen);
}

// A plan's memory: its arenas one after the other, each byte by the block that is placed there.
struct PlanCells {
  explicit PlanCells(const PlannedMemory& plan) {
    for (const PlannedArena& arena : plan.arenas) {
      first.push_back(cells);
      cells += RoundUp(arena.peak, kGranule) / kCell;
    }
    for (const Placement& placement : plan.placements) places[BlockId(placement.block)] = placement;
  }
  size_t At(uint32_t arena, Bytes offset) const { return first[arena] + offset / kCell; }
  LaunchOracle::Place Visitor() const {
    return [this](BlockId block, Interval<Bytes> bytes, const auto& visit) {
      const auto found = places.find(block);
      if (found == places.end()) return;
      const Placement& placement = found->second;
      for (Bytes at = bytes.begin; at < bytes.end; at += kCell) {
        visit(At(placement.arena, placement.offset + at));
      }
    };
  }

  std::vector<size_t> first;
  size_t cells = 0;
  std::map<BlockId, Placement> places;
};

// By launch: the graphs that have an arena.
std::vector<bool> PlannedMembers(const OracleProgram& program, GraphId graph) {
  std::vector<bool> members;
  for (const OracleLaunch& launch : program.launches) members.push_back(launch.root == graph);
  return members;
}

template <typename Test>
void ForEachGranule(const BorrowedRange& range, Test test) {
  for (Bytes at = 0; at < range.size; at += kGranule) test(range.offset + at);
}

TEST_CASE(
    "bytes of a plan are lent only if no execution needs them, between launches and at nodes") {
  uint64_t lent = 0, lent_at = 0, refused = 0, refused_at = 0, late = 0;
  for (uint64_t seed = RandomSeed(), end = seed + static_cast<uint64_t>(RandomRounds(2000));
       seed < end; ++seed) {
    CAPTURE(seed);
    RandomProgram random_program(seed);
    const OracleProgram program = random_program.Build();
    const Facts facts(program.trace);
    PlannedMemory plan = PlanTrace(facts, kRule, {.looks = 20'000});
    plan.borrow = PlanBorrow(facts, plan, kRule);
    REQUIRE(ValidatePlanBorrow(facts, plan).empty());
    const PlanCells cells(plan);
    const auto safe = [&](const std::vector<bool>& unsafe, uint32_t arena, Bytes offset) {
      for (Bytes at = 0; at < kGranule; at += kCell) {
        if (unsafe[cells.At(arena, offset + at)]) return false;
      }
      return true;
    };
    Random random(seed);
    for (uint32_t arena = 0; arena < plan.arenas.size(); ++arena) {
      const GraphId graph = plan.arenas[arena].graph;
      const std::vector<bool> members = PlannedMembers(program, graph);
      if (std::ranges::find(members, true) == members.end()) continue;
      LaunchOracle oracle(program, cells.cells, cells.Visitor());
      for (uint64_t order = 0; order < 6; ++order) oracle.Run(members, seed * 100 + order);
      for (const BorrowedRange& range : *plan.borrow) {
        if (range.arena != arena) continue;
        ForEachGranule(range, [&](Bytes offset) {
          CAPTURE(offset / kGranule);
          REQUIRE(safe(oracle.unsafe(), arena, offset));
          ++lent;
        });
      }
      PlannedMemory planted = plan;
      const Bytes some = random.Below(plan.arenas[arena].peak / kGranule + 1) * kGranule;
      if (some < plan.arenas[arena].peak) {
        planted.borrow = {{{arena, some, kGranule}}};
        const bool taken = ValidatePlanBorrow(facts, planted).empty();
        if (!safe(oracle.unsafe(), arena, some)) REQUIRE_FALSE(taken);
        refused += taken ? 0 : 1;
      }

      std::vector<NodeId> nodes;
      for (size_t i = 0; i < program.trace.nodes.size(); ++i) {
        if (facts.roots()[program.trace.nodes[i].graph.index()] == graph) nodes.emplace_back(i);
      }
      if (nodes.empty()) continue;
      const NodeId at = nodes[random.Below(nodes.size())];
      const std::vector<BorrowAt> ranges = BorrowAtNode(facts, plan, kRule, at);
      REQUIRE(ValidateBorrowAt(facts, plan, ranges).empty());
      std::map<std::pair<NodeId, NodeId>, std::vector<BorrowedRange>> by_last;
      for (const BorrowAt& one : ranges) by_last[{one.last, one.until}].push_back(one.range);
      by_last[{at, {}}];  // for what is planted
      for (const auto& [key, of_last] : by_last) {
        const std::pair<NodeId, NodeId> ends = key;  // no binding: a lambda below captures it
        LaunchOracle at_node(program, cells.cells, cells.Visitor()),
            too_late(program, cells.cells, cells.Visitor());
        for (uint64_t order = 0; order < 6; ++order) {
          at_node.Run(members, seed * 100 + order, OracleWindow{at, ends.first});
          if (!ends.second) continue;
          too_late.Run(members, seed * 100 + order, OracleWindow{at, ends.first, ends.second});
        }
        for (const BorrowedRange& range : of_last) {
          ForEachGranule(range, [&](Bytes offset) {
            CAPTURE(at.value);
            CAPTURE(range.arena);
            CAPTURE(offset / kGranule);
            REQUIRE(safe(at_node.unsafe(), range.arena, offset));
            ++lent_at;
            late += ends.second && !safe(too_late.unsafe(), range.arena, offset) ? 1 : 0;
          });
        }
        if (ends.first != at || some >= plan.arenas[arena].peak) continue;
        const BorrowAt one{.range = {arena, some, kGranule}, .at = at, .nodes = 1, .last = at};
        const bool taken = ValidateBorrowAt(facts, plan, {&one, 1}).empty();
        CAPTURE(at.value);
        CAPTURE(some / kGranule);
        if (!safe(at_node.unsafe(), arena, some)) REQUIRE_FALSE(taken);
        refused_at += taken ? 0 : 1;
      }
    }
  }
  MESSAGE("seeds from " << RandomSeed() << ": " << lent << " granules lent between launches, "
                        << lent_at << " at nodes; refused " << refused << " and " << refused_at
                        << "; unsafe to the start of the next node of the chain: " << late);
  CHECK(lent > 1000);
  CHECK(lent_at > 1000);
  CHECK(refused > 200);
  CHECK(refused_at > 200);
  CHECK(late > 0);  // `until` is no end of the time
}

}  // namespace
}  // namespace graphkit
