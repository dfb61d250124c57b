// Memory that `graphkit survive` lends, and its validator, against the oracle of launch_oracle.h.
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
#include "tests/replay/random_program.h"

namespace graphkit {
namespace {

constexpr MarkerRule kRule = MarkerRule::kLastUse;
bool Allocated(const OracleProgram& program, GraphId graph) {
  return std::ranges::any_of(program.trace.blocks,
                             [&](const Block& block) { return block.graph == graph; });
}

// By launch: whether its graph allocated in the pool.
std::vector<bool> Members(const OracleProgram& program) {
  std::vector<bool> members;
  for (const OracleLaunch& launch : program.launches)
    members.push_back(Allocated(program, launch.root));
  return members;
}

// What is allocated outside of captures while memory is lent: from the first launch of the pool's
// graphs to the last one of an exec that ever ran one of them, or where the trace ends.
void AddEager(const OracleProgram& program, const std::vector<bool>& members, Address base,
              std::vector<bool>* unsafe) {
  Seq first = kNever, last = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const Seq at = program.launches[i].seq;
    const auto ever = [&](GraphId graph) { return Allocated(program, graph); };
    if (members[i]) first = std::min(first, at);
    if (std::ranges::any_of(program.ever[i], ever)) last = at;
  }
  for (const Block& block : program.trace.blocks) {
    const bool ends = block.free_completed != kNever;
    const bool there = block.free_completed > first && (block.allocated < last || !ends);
    if (block.graph.valid() || block.size == kSegment || !there) continue;
    for (Bytes at = 0; at < RoundUp(block.size, kGranule); at += kCell) {
      (*unsafe)[(block.address - base + at) / kCell] = true;
    }
  }
}

constexpr uint64_t kOrders = 12;

TEST_CASE("bytes of a recorded pool are lent only if no execution needs them") {
  uint64_t lent = 0, lendable = 0, planted = 0, taken_safe = 0, pools_seen = 0;
  for (uint64_t seed = RandomSeed(), end = seed + static_cast<uint64_t>(RandomRounds(2600));
       seed < end; ++seed) {
    CAPTURE(seed);
    RandomProgram random_program(seed);
    const OracleProgram program = random_program.Build();
    const Address base = random_program.base();
    const Ran& trace = program.trace;
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
  CHECK(lent * 100 >= lendable * 95);
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
    PlannedMemory plan = PlanTrace(facts, kRule, {.search = {.effort = 400'000}});
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
