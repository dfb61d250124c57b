#include "tools/graphkit/replay/execution_program.h"

#include <algorithm>
#include <unordered_map>

#include "libgraphkit/group_by.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {
namespace {

class ProgramMaker {
 public:
  ProgramMaker(const Facts& facts, const GraphSlice& slice, const BlockOrder& order)
      : facts_(facts), slice_(slice), order_(order), step_of_(slice.nodes.size(), kNone) {}

  Program Make(PlacedPools pools) {
    AddSteps();
    for (uint32_t step = 0; step < program_.steps.size(); ++step) AddToBodies(step);
    for (const std::vector<PlacedBlock>& pool : pools) AddPool(pool);
    for (uint32_t block = 0; block < program_.blocks.size(); ++block) AddTouches(block);
    Flatten();
    return std::move(program_);
  }

 private:
  static constexpr uint32_t kNone = ProgramTouch::kNoWriter;

  void AddSteps() {
    for (const uint32_t id : SortNodes(facts_.in_edges(), slice_.nodes)) {
      ++program_.looks;
      if (!facts_.trace.graph_nodes.Has(NodeId(id))) continue;
      step_of_[slice_.nodes.NumberOf(id)] = static_cast<uint32_t>(program_.steps.size());
      program_.steps.push_back({.node = NodeId(id)});
    }
    touches_.resize(program_.steps.size());
  }

  uint32_t StepOf(NodeId node) const {
    const size_t number = slice_.nodes.NumberOf(node.index());
    return number < step_of_.size() ? step_of_[number] : kNone;
  }

  // A step belongs to every body around it.
  void AddToBodies(uint32_t step) {
    GraphId graph = facts_.trace[program_.steps[step].node].graph;
    for (; graph != slice_.root && facts_.trace[graph].parent.valid();
         graph = facts_.trace[facts_.trace[graph].parent].graph) {
      const uint32_t holder = StepOf(facts_.trace[graph].parent);
      if (holder == kNone ||
          facts_.trace[facts_.trace[graph].parent].kind != NodeKind::kConditional) {
        continue;
      }
      const auto [at, made] =
          body_of_.try_emplace(graph.value, static_cast<uint32_t>(program_.bodies.size()));
      if (made) {
        program_.bodies.emplace_back();
        program_.steps[holder].bodies.push_back(at->second);
      }
      program_.bodies[at->second].push_back(step);
    }
  }

  void AddPool(const std::vector<PlacedBlock>& pool) {
    std::vector<Bytes> cuts;
    for (const PlacedBlock& placed : pool) {
      if (placed.size != 0) cuts.insert(cuts.end(), {placed.offset, placed.offset + placed.size});
    }
    SortUnique(&cuts);
    const auto place = [&](Bytes cut) {
      return static_cast<uint32_t>(std::ranges::lower_bound(cuts, cut) - cuts.begin());
    };
    const auto first = static_cast<uint32_t>(program_.stretches.size());
    for (const PlacedBlock& placed : pool) {
      if (placed.size == 0) continue;
      const uint32_t begin = place(placed.offset);
      const Slice canaries{first + begin, place(placed.offset + placed.size) - begin};
      program_.blocks.push_back({placed.block, canaries, order_.Dies(placed.block)});
    }
    AddStretches(cuts);
  }

  void AddStretches(const std::vector<Bytes>& cuts) {
    if (cuts.empty()) return;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const Bytes end = i + 1 < cuts.size() ? cuts[i + 1] : cuts[i];
      program_.stretches.push_back({base_ + cuts[i], end - cuts[i]});
    }
    base_ += cuts.back();
  }

  void AddTouches(uint32_t index) {
    const BlockId block = program_.blocks[index].block;
    struct Use {
      NodeId node;
      bool writes;
    };
    std::vector<Use> uses;
    ForEachAccess(facts_.trace, order_.lives(), block, [&](NodeId node, const Access& access) {
      if (StepOf(node) != kNone) uses.push_back({node, access.mode != AccessMode::kRead});
    });
    // A block that is read was written.
    if (!uses.empty() && std::ranges::none_of(uses, &Use::writes)) uses.front().writes = true;
    // The accesses of a kernel without layout are unknown: the block must last until its markers.
    if (order_.lives().ByStreams(block, order_.rule())) {
      for (const NodeId marker : order_.lives().Markers(block, order_.rule())) {
        if (StepOf(marker) != kNone) uses.push_back({marker, false});
      }
    }
    for (size_t i = 0; i < uses.size(); ++i) {
      ProgramTouch touch{.block = index, .writes = uses[i].writes};
      for (size_t j = 0; j < uses.size() && touch.writer == kNone; ++j) {
        if (uses[j].writes && facts_.order().Before(uses[j].node, uses[i].node)) {
          touch.writer = StepOf(uses[j].node);
        }
      }
      touches_[StepOf(uses[i].node)].push_back(touch);
    }
  }

  void Flatten() {
    for (uint32_t i = 0; i < program_.steps.size(); ++i) {
      program_.steps[i].touches = {static_cast<uint32_t>(program_.touches.size()),
                                   static_cast<uint32_t>(touches_[i].size())};
      program_.touches.insert(program_.touches.end(), touches_[i].begin(), touches_[i].end());
    }
  }

  const Facts& facts_;
  const GraphSlice& slice_;
  const BlockOrder& order_;
  std::vector<uint32_t> step_of_;                   // by node of the graph
  std::vector<std::vector<ProgramTouch>> touches_;  // by step
  std::unordered_map<uint32_t, uint32_t> body_of_;  // by graph
  Bytes base_ = 0;                                  // of the next pool
  Program program_;
};

}  // namespace

Program MakeProgram(const Facts& facts, const GraphSlice& slice, const BlockOrder& order,
                    PlacedPools pools) {
  return ProgramMaker(facts, slice, order).Make(pools);
}

}  // namespace graphkit
