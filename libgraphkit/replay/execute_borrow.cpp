#include "libgraphkit/replay/execute_borrow.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "libgraphkit/alloc/judge/validate_borrow.h"
#include "libgraphkit/replay/execution_job.h"

namespace graphkit {
namespace {

constexpr Bytes kWord = 8;  // of a canary
constexpr uint32_t kNowhere = 0xffffffffu;

struct LentBytes {
  uint32_t arena = 0;
  Interval<Bytes> bytes;  // whole words
  NodeId node = {};
  NodeId last = {};  // that they are lent for
};

// Graphs that share memory, and what of it is lent.
struct Lenders {
  std::vector<GraphId> graphs;
  std::vector<Program> programs;  // by graph
  std::vector<BlockId> blocks;
  std::vector<uint32_t> lent;             // in the list of all ranges
  std::vector<Slice> canaries;            // stretches of the blocks, then of what is lent
  std::vector<std::vector<Slice>> found;  // of each block, what a launch finds there
  std::vector<Bytes> stretches;
  std::unordered_map<uint32_t, uint32_t> number_of;  // of a block
};

// The last node of the chain of `at` before `until`.
NodeId LastBefore(const Facts& facts, NodeId at, NodeId until) {
  const ChainPlace first = facts.order().PlaceOf(at);
  const uint64_t end = until ? facts.order().PlaceOf(until).seq : kNowhere;
  NodeId last = at;
  for (size_t i = 0; i < facts.trace.nodes.size(); ++i) {
    const ChainPlace place = facts.order().PlaceOf(NodeId(i));
    if (place.chain != first.chain || place.seq < first.seq || place.seq >= end) continue;
    if (place.seq > facts.order().PlaceOf(last).seq) last = NodeId(i);
  }
  return last;
}

class LenderFinder {
 public:
  LenderFinder(const Facts& facts, const PlannedMemory& plan, MarkerRule rule,
               std::span<const LentBytes> lent, const BorrowNeeds& needs)
      : facts_(facts),
        plan_(plan),
        rule_(rule),
        lent_(lent),
        needs_(needs),
        group_(plan.arenas.size()) {}

  std::vector<Lenders> Find() {
    GroupArenas();
    std::map<uint32_t, Lenders> found;  // by the first arena of a group
    for (uint32_t i = 0; i < lent_.size(); ++i) found[Root(lent_[i].arena)].lent.push_back(i);
    for (auto& [root, lenders] : found) {
      AddStretches(root, &lenders);
      AddPrograms(root, &lenders);
    }
    std::vector<Lenders> all;
    for (auto& [root, lenders] : found) all.push_back(std::move(lenders));
    return all;
  }

 private:
  uint32_t Root(uint32_t arena) const {
    while (group_[arena] != arena) arena = group_[arena];
    return arena;
  }

  // Arenas of one graph belong together.
  void GroupArenas() {
    std::iota(group_.begin(), group_.end(), 0u);
    std::unordered_map<uint32_t, uint32_t> first;  // arena of a graph
    for (const Placement& placement : plan_.placements) {
      const GraphId graph = facts_.lives()[BlockId(placement.block)].root;
      if (!graph) continue;
      const auto [at, fresh] = first.try_emplace(graph.value, placement.arena);
      const uint32_t one = Root(at->second);
      const uint32_t other = Root(placement.arena);
      group_[std::max(one, other)] = std::min(one, other);
    }
  }

  // As execution_program.h cuts memory, with what is lent.
  void AddStretches(uint32_t root, Lenders* lenders) {
    std::map<uint32_t, MemoryCuts> cuts;  // by arena
    for (const Placement& placed : plan_.placements) {
      if (placed.size == 0 || Root(placed.arena) != root) continue;
      cuts[placed.arena].Add(placed.offset, placed.offset + placed.size);
      for (const Interval<Bytes>& bytes : needs_.found[placed.block]) {
        cuts[placed.arena].Add(placed.offset + bytes.begin, placed.offset + bytes.end);
      }
    }
    for (const uint32_t i : lenders->lent) {
      cuts[lent_[i].arena].Add(lent_[i].bytes.begin, lent_[i].bytes.end);
    }
    std::map<uint32_t, uint32_t> first;
    for (auto& [arena, of] : cuts) {
      of.Finish();
      first[arena] = static_cast<uint32_t>(lenders->stretches.size());
      for (size_t i = 0; i + 1 < of.places().size(); ++i) {
        lenders->stretches.push_back(of.places()[i + 1] - of.places()[i]);
      }
    }
    const auto canaries = [&](uint32_t arena, Bytes begin, Bytes end) {
      return cuts.at(arena).Of(begin, end, first.at(arena));
    };
    AddCanaries(root, canaries, lenders);
    LeaveGapsOut(lenders);
  }

  // `canaries(arena, begin, end)`: the stretches of a range.
  template <typename Canaries>
  void AddCanaries(uint32_t root, const Canaries& canaries, Lenders* lenders) const {
    for (const Placement& placed : plan_.placements) {
      if (placed.size == 0 || Root(placed.arena) != root) continue;
      const auto part = [&](Bytes begin, Bytes end) {
        return canaries(placed.arena, placed.offset + begin, placed.offset + end);
      };
      lenders->number_of[placed.block] = static_cast<uint32_t>(lenders->blocks.size());
      lenders->blocks.emplace_back(placed.block);
      lenders->canaries.push_back(part(0, placed.size));
      std::vector<Slice>& found = lenders->found.emplace_back();
      for (const Interval<Bytes>& bytes : needs_.found[placed.block]) {
        found.push_back(part(bytes.begin, bytes.end));
      }
    }
    for (const uint32_t i : lenders->lent) {
      lenders->canaries.push_back(
          canaries(lent_[i].arena, lent_[i].bytes.begin, lent_[i].bytes.end));
    }
  }

  // Addresses between segments take no memory.
  static void LeaveGapsOut(Lenders* lenders) {
    std::vector<bool> used(lenders->stretches.size());
    for (const Slice& slice : lenders->canaries) {
      for (uint32_t i = 0; i < slice.count; ++i) used[slice.first + i] = true;
    }
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) lenders->stretches[i] = 0;
    }
  }

  void AddPrograms(uint32_t root, Lenders* lenders) {
    std::map<GraphId, std::map<uint32_t, std::vector<PlacedBlock>>> of;  // by graph and arena
    for (const Placement& placed : plan_.placements) {
      const GraphId graph = facts_.lives()[BlockId(placed.block)].root;
      if (!graph || Root(placed.arena) != root) continue;
      of[graph][placed.arena].push_back({BlockId(placed.block), placed.offset, placed.size});
    }
    lenders->graphs = plan_.sequence;
    if (lenders->graphs.empty()) {
      for (const auto& [graph, arenas] : of) lenders->graphs.push_back(graph);
    }
    const Slices slices(facts_.trace, facts_.roots(), facts_.blocks());
    for (const GraphId graph : lenders->graphs) {
      std::vector<std::vector<PlacedBlock>> pools;
      for (auto& [arena, blocks] : of[graph]) {
        std::ranges::sort(blocks, {}, &PlacedBlock::block);
        pools.push_back(blocks);
      }
      lenders->programs.push_back(
          MakeProgram(facts_, slices.Of(graph), facts_.Blocks(rule_), pools));
    }
  }

  const Facts& facts_;
  const PlannedMemory& plan_;
  const MarkerRule rule_;
  const std::span<const LentBytes> lent_;
  const BorrowNeeds& needs_;
  std::vector<uint32_t> group_;  // by arena: another one of its group, or itself
};

// One order of all launches.
class LentJob {
 public:
  LentJob(const Facts& facts, const Lenders& lenders, std::span<const LentBytes> lent,
          const BorrowNeeds& needs, const JobOptions& options)
      : facts_(facts),
        lenders_(lenders),
        lent_(lent),
        needs_(needs),
        options_(options),
        owner_(lenders.stretches.size(), kNowhere) {
    for (const Bytes size : lenders.stretches) {
      const Bytes bytes = options.whole ? size : kWord;
      job_.stretches.push_back({job_.memory, bytes});
      job_.memory += bytes;
    }
    job_.launches = true;
    last_ = WriteInputs();
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < lenders.graphs.size(); ++i) {
        Launch(lenders.programs[i]);
        LendBetween();
      }
    }
    LeaveTwinsOut();
  }

  const ExecutionJob& job() const { return job_; }

  // None: it is not about what is lent.
  std::optional<LentFault> FaultOf(const graphkit_job_outcome& outcome) const {
    if (outcome.faulty == 0 || outcome.found == 0) return {};
    const uint32_t needed = job_.touches[outcome.touch].block;
    const auto writer = static_cast<uint32_t>(outcome.found & 0xffffffffu) - 1;
    const auto blocks = static_cast<uint32_t>(lenders_.blocks.size());
    if ((needed < blocks) == (writer < blocks)) return {};
    const uint32_t block = std::min(needed, writer);
    const uint64_t by = needed < blocks ? outcome.node : (outcome.found >> 32) - 1;
    return LentFault{.seed = options_.seed,
                     .range = lenders_.lent[std::max(needed, writer) - blocks],
                     .block = lenders_.blocks[block],
                     .node = nodes_[by]};
  }

 private:
  // The nodes that a lender's node stands between, and the ranges.
  struct Borrower {
    std::vector<uint32_t> after;   // nodes of the graph's job
    std::vector<uint32_t> before;  // the same
    std::vector<uint32_t> lent;
    uint32_t writes = 0, looks = 0;  // its nodes

    uint32_t first() const { return after.empty() ? 0 : std::ranges::max(after) + 1; }
    uint32_t end() const { return std::ranges::min(before); }
  };

  // True if the block still lies there, but for what is lent.
  bool Lies(uint32_t block, Slice slice) const {
    const auto first = owner_.begin() + slice.first;
    return std::all_of(first, first + slice.count, [&](uint32_t owner) { return owner == block; });
  }

  uint32_t AddNode(NodeId node) {
    graphkit_job_node made{};
    made.first_touch = static_cast<uint32_t>(job_.touches.size());
    job_.nodes.push_back(made);
    nodes_.push_back(node);
    return static_cast<uint32_t>(nodes_.size()) - 1;
  }

  // Of the last node.
  void AddTouch(uint32_t what, bool checks, bool writes) {
    AddTouch(what, lenders_.canaries[what], checks, writes);
  }
  void AddTouch(uint32_t what, Slice slice, bool checks, bool writes) {
    job_.touches.push_back({slice.first, slice.count, what, static_cast<uint8_t>(checks ? 1 : 0),
                            static_cast<uint8_t>(writes ? 1 : 0), 0});
    ++job_.nodes.back().touches;
    // The block that would be there if nothing had been lent.
    if (!writes || what >= lenders_.blocks.size()) return;
    for (uint32_t i = 0; i < slice.count; ++i) owner_[slice.first + i] = what;
  }

  void AddEdge(uint32_t from, uint32_t to) { job_.edges.push_back({from, to, 0, 0, 0, 0}); }

  uint32_t WriteInputs() {
    const uint32_t node = AddNode({});
    for (uint32_t i = 0; i < lenders_.blocks.size(); ++i) {
      const bool eager = !facts_.lives()[lenders_.blocks[i]].root;
      if (eager || !lenders_.found[i].empty()) AddTouch(i, false, true);
    }
    return node;
  }

  void Launch(const Program& program) {
    const ExecutionJob own = MakeJob(facts_, program, options_);
    std::vector<Borrower> borrowers = BorrowersIn(program, own);
    std::vector<uint32_t> made;
    for (uint32_t i = 0; i < own.nodes.size(); ++i) {
      for (Borrower& borrower : borrowers) {
        if (borrower.first() == i) borrower.writes = Borrow(borrower.lent, true);
        if (borrower.end() == i) borrower.looks = Borrow(borrower.lent, false);
      }
      made.push_back(AddRecorded(program, own, i));
    }
    AddEdges(own, borrowers, made);
    last_ = made.back();
  }

  // At a node of the graph; the taken bodies differ from order to order.
  std::vector<Borrower> BorrowersIn(const Program& program, const ExecutionJob& own) const {
    std::map<NodeId, Borrower> found;  // by the last node that it borrows for
    for (uint32_t i = 0; i < lenders_.lent.size(); ++i) {
      const LentBytes& lent = lent_[lenders_.lent[i]];
      if (!lent.node) continue;
      const uint32_t start = NodeOf(program, own, lent.node, false);
      const uint32_t last = NodeOf(program, own, lent.last, true);
      if (start == kNowhere || last == kNowhere) continue;
      const auto [at, fresh] = found.try_emplace(lent.last);
      at->second.lent.push_back(static_cast<uint32_t>(lenders_.blocks.size()) + i);
      if (!fresh) continue;
      at->second.before = {static_cast<uint32_t>(own.nodes.size()) - 1};
      for (const graphkit_job_edge& edge : own.edges) {
        if (edge.to == start) at->second.after.push_back(edge.from);
        if (edge.from == last) at->second.before.push_back(edge.to);
      }
    }
    std::vector<Borrower> borrowers;
    for (auto& [last, borrower] : found) borrowers.push_back(std::move(borrower));
    return borrowers;
  }

  // Of the job; what holds a graph has two: its start and its end.
  static uint32_t NodeOf(const Program& program, const ExecutionJob& own, NodeId node, bool end) {
    uint32_t found = kNowhere;
    for (uint32_t i = 0; i < own.steps.size(); ++i) {
      const uint32_t step = own.steps[i];
      if (step == ExecutionJob::kNone || program.steps[step].node != node) continue;
      found = i;
      if (!end) break;
    }
    return found;
  }

  // A node that writes lent ranges, or looks at them.
  uint32_t Borrow(const std::vector<uint32_t>& lent, bool writes) {
    const uint32_t node = AddNode({});
    for (const uint32_t range : lent) AddTouch(range, !writes, writes);
    return node;
  }

  // Bytes that a launch finds from before are there as well.
  uint32_t AddRecorded(const Program& program, const ExecutionJob& own, uint32_t index) {
    const graphkit_job_node& from = own.nodes[index];
    const uint32_t step = own.steps[index];
    const uint32_t node =
        AddNode(step == ExecutionJob::kNone ? NodeId() : program.steps[step].node);
    job_.nodes[node].held_us = from.held_us;
    job_.nodes[node].kernel = from.kernel;
    job_.nodes[node].waits = from.waits;
    for (uint32_t i = 0; i < from.touches; ++i) {
      const graphkit_touch& touch = own.touches[from.first_touch + i];
      const uint32_t block = lenders_.number_of.at(program.blocks[touch.block].block.value);
      AddFound(block);
      AddTouch(block, touch.checks != 0, touch.writes != 0);
    }
    return node;
  }

  void AddFound(uint32_t block) {
    for (const Slice slice : lenders_.found[block]) {
      if (Lies(block, slice)) AddTouch(block, slice, true, false);
    }
  }

  void AddEdges(const ExecutionJob& own, const std::vector<Borrower>& borrowers,
                const std::vector<uint32_t>& made) {
    std::vector<bool> follows(made.size());
    for (graphkit_job_edge edge : own.edges) {
      follows[edge.to] = true;
      edge.from = made[edge.from];
      edge.to = made[edge.to];
      job_.edges.push_back(edge);
    }
    for (uint32_t i = 0; i < made.size(); ++i) {
      if (!follows[i]) AddEdge(last_, made[i]);
    }
    for (const Borrower& borrower : borrowers) {
      AddEdge(last_, borrower.writes);
      for (const uint32_t node : borrower.after) AddEdge(made[node], borrower.writes);
      AddEdge(borrower.writes, borrower.looks);
      for (const uint32_t node : borrower.before) AddEdge(borrower.looks, made[node]);
    }
  }

  void LendBetween() {
    std::vector<uint32_t> lent;
    for (uint32_t i = 0; i < lenders_.lent.size(); ++i) {
      if (lent_[lenders_.lent[i]].node) continue;
      lent.push_back(static_cast<uint32_t>(lenders_.blocks.size()) + i);
    }
    const uint32_t writes = Borrow(lent, true);
    AddEdge(last_, writes);
    last_ = Borrow(lent, false);
    AddEdge(writes, last_);
    for (uint32_t i = 0; i < lenders_.blocks.size(); ++i) {
      const BlockId block = lenders_.blocks[i];
      const bool stays = needs_.leaves[block.index()] || !facts_.lives()[block].root;
      if (!stays) {
        AddFound(i);
      } else if (Lies(i, lenders_.canaries[i])) {
        AddTouch(i, true, false);
      }
    }
  }

  // A graph has no edge twice.
  void LeaveTwinsOut() {
    const auto ends = [](const graphkit_job_edge& edge) { return std::pair(edge.from, edge.to); };
    std::ranges::sort(job_.edges, {}, ends);
    const auto same = [&](const graphkit_job_edge& a, const graphkit_job_edge& b) {
      return ends(a) == ends(b);
    };
    const auto twins = std::unique(job_.edges.begin(), job_.edges.end(), same);
    job_.edges.erase(twins, job_.edges.end());
  }

  const Facts& facts_;
  const Lenders& lenders_;
  const std::span<const LentBytes> lent_;
  const BorrowNeeds& needs_;
  const JobOptions options_;
  std::vector<uint32_t> owner_;  // by stretch: the block that lies there; none: nothing yet
  uint32_t last_ = 0;            // node: all before has ended when it has
  std::vector<NodeId> nodes_;    // by node; none: what borrows, and what looks
  ExecutionJob job_;
};

std::vector<LentBytes> LentOf(const Facts& facts, const PlannedMemory& plan) {
  std::vector<LentBytes> lent;
  const auto words = [](const BorrowedRange& range) {
    return Interval<Bytes>{RoundUp(range.offset, kWord),
                           (range.offset + range.size) / kWord * kWord};
  };
  if (plan.borrow) {
    for (const BorrowedRange& range : *plan.borrow) lent.push_back({range.arena, words(range)});
  }
  for (const BorrowAt& one : plan.borrow_at) {
    const NodeId last = one.last ? one.last : LastBefore(facts, one.at, one.until);
    lent.push_back({one.range.arena, words(one.range), one.at, last});
  }
  std::erase_if(lent, [](const LentBytes& one) { return one.bytes.begin >= one.bytes.end; });
  return lent;
}

}  // namespace

BorrowExecution ExecuteBorrow(const Facts& facts, const PlannedMemory& plan, MarkerRule rule,
                              const Executor& executor, std::span<const Address> bases) {
  BorrowExecution execution{
      .on = executor.name(), .orders = executor.options.orders, .seed = executor.options.seed};
  const std::vector<LentBytes> lent = LentOf(facts, plan);
  for (const LentBytes& one : lent) {
    const Address base = one.arena < bases.size() ? bases[one.arena] : 0;
    execution.ranges.push_back(
        {plan.arenas[one.arena].pool, base + one.bytes.begin, one.bytes.size(), one.node});
  }
  const BorrowNeeds needs = FindBorrowNeeds(facts);
  const std::vector<Lenders> all = LenderFinder(facts, plan, rule, lent, needs).Find();
  struct Outcome {
    uint64_t checks = 0;
    std::optional<LentFault> fault;
    std::string failed;
  };
  std::vector<Outcome> outcomes(executor.options.orders);
  executor.ForEachOrder([&](size_t i, JobOptions options) {
    options.partial = PartialEdges::kNone;  // what borrows has no place between their ends
    for (const Lenders& lenders : all) {
      const LentJob job(facts, lenders, lent, needs, options);
      const graphkit_job_outcome outcome = executor.Run(job.job(), options.seed);
      outcomes[i].checks += outcome.checks;
      outcomes[i].failed = outcome.error;
      if (!outcomes[i].failed.empty()) return;
      if (!outcomes[i].fault) outcomes[i].fault = job.FaultOf(outcome);
    }
  });
  for (const Outcome& outcome : outcomes) {
    execution.checks += outcome.checks;
    if (outcome.fault) execution.faults.push_back(*outcome.fault);
    if (execution.failed.empty()) execution.failed = outcome.failed;
  }
  return execution;
}

}  // namespace graphkit
