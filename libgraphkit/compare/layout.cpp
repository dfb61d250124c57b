// Two runs in lockstep: the first allocation at another place, and why. An allocation is recognized
// in the other run by its line and size.
//
//     first    weights  warm-up  warm-up  | capture: a b
//     second   weights  warm-up           | capture: a b       a, b: elsewhere, for the warm-up
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/compare/diff.h"
#include "libgraphkit/compare/match_graphs.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {
namespace {

struct LayoutRun {
  const Ran& trace;
  std::vector<BlockId> blocks = {};    // without memory of segments and of the host
  std::vector<std::string> keys = {};  // line and size
};

bool IsPinnedHost(const Ran& trace, BlockId block) {
  const PoolId pool = trace[block].pool;
  return pool.valid() && trace[pool].kind == PoolKind::kHost;
}

class LayoutComparison {
 public:
  LayoutComparison(const Ran& before, const Ran& after) : runs_{{{before}, {after}}} {
    for (size_t run = 0; run < 2; ++run) {
      const Ran& trace = runs_[run].trace;
      const std::vector<bool> backs_segment = BacksSegment(trace);
      for (uint32_t i = 0; i < backs_segment.size(); ++i) {
        if (backs_segment[i] || IsPinnedHost(trace, BlockId(i))) continue;
        const Block block = trace.blocks[i];
        runs_[run].blocks.push_back(BlockId(i));
        runs_[run].keys.push_back(StackTitle(trace, block.stack) + std::to_string(block.size));
        ++counts_[runs_[run].keys.back()][block.graph.valid()][run];
      }
    }
    const auto place = [&](size_t run) {
      return std::pair(At(run, at_).address, At(run, at_).size);
    };
    while (Has(0) && Has(1) && place(0) == place(1)) ++at_;
  }

  std::vector<FindingChange> Find() const {
    if (!Has(0) && !Has(1)) return {};
    std::vector<FindingChange> found = {Cause(), Moved()};
    found[0].message += " (before: " + CallText(0, at_) + "; after: " + CallText(1, at_) + ")";
    AddImmovable(&found);
    return found;
  }

 private:
  bool Has(size_t run) const { return at_ < runs_[run].blocks.size(); }
  Block At(size_t run, size_t call) const { return runs_[run].trace[runs_[run].blocks[call]]; }
  // "allocation 12, block 4 (1 MiB), train.py:17 load".
  std::string CallText(size_t run, size_t call) const {
    if (call >= runs_[run].blocks.size()) return "no further allocation";
    const std::string line = StackTitle(runs_[run].trace, At(run, call).stack);
    return "allocation " + std::to_string(call) + ", " +
           NameOf(runs_[run].trace, runs_[run].blocks[call]) + (line.empty() ? "" : ", " + line);
  }

  FindingChange Cause() const {
    for (size_t run = 0; run < 2; ++run) {
      if (!Has(run)) continue;
      const auto& [outside, inside] = counts_.at(runs_[run].keys[at_]);
      const bool alike = inside[0] == inside[1];
      if (alike && outside[0] == outside[1]) continue;
      if (outside[0] + inside[0] == outside[1] + inside[1])
        return Named("layout-capture", "allocated inside of a capture in one run only", inside);
      if (alike && (inside[0] > 0 || std::min(outside[0], outside[1]) > 0))
        return Named("layout-warm-up", "another number of warm-ups before the capture", outside);
      const bool both = Has(0) && Has(1) && outside[0] + outside[1] + inside[0] + inside[1] == 1;
      if (both && SameLine()) return Named("layout-size", "another size");
      return Named("layout-call", "another number of allocations",
                   {outside[0] + inside[0], outside[1] + inside[1]});
    }
    if (!Has(0) || !Has(1)) return Named("layout-call", "one run ended earlier");
    if (runs_[0].keys[at_] == runs_[1].keys[at_]) return GivenBack();
    const GraphId first = At(0, at_).graph, second = At(1, at_).graph;
    if (!first.valid() || !second.valid()) return Named("layout-order", "another order of calls");
    return Named("layout-capture-order",
                 "another order of captures: " + NameOf(runs_[0].trace, first) + " and " +
                     NameOf(runs_[1].trace, second));
  }

  bool SameLine() const {
    return StackTitle(runs_[0].trace, At(0, at_).stack) ==
           StackTitle(runs_[1].trace, At(1, at_).stack);
  }

  static FindingChange Named(const char* check, std::string message,
                             std::array<uint64_t, 2> counts = {0, 0}) {
    return {.check = check,
            .message = std::move(message),
            .count_before = counts[0],
            .count_after = counts[1]};
  }

  // Segments that were released before the call, each with the number of calls before that.
  std::vector<std::pair<size_t, SegmentId>> Released(size_t run) const {
    std::vector<std::pair<size_t, SegmentId>> released;
    const Ran& trace = runs_[run].trace;
    for (size_t i = 0; i < trace.segments.size(); ++i) {
      const auto earlier = [&](BlockId block) {
        return trace[block].allocated < trace.segments[i].freed;
      };
      const auto after = std::ranges::partition_point(runs_[run].blocks, earlier);
      const auto calls = static_cast<size_t>(after - runs_[run].blocks.begin());
      if (calls <= at_) released.emplace_back(calls, i);
    }
    std::ranges::sort(released);
    return released;
  }

  // The same calls: one run gave memory back before that the other still had.
  FindingChange GivenBack() const {
    const auto first = Released(0), second = Released(1);
    size_t i = 0;
    while (i < first.size() && i < second.size() && first[i].first == second[i].first) ++i;
    if (i < std::max(first.size(), second.size())) {
      const bool later =
          i >= first.size() || (i < second.size() && second[i].first < first[i].first);
      const Ran& trace = runs_[later].trace;
      const Segment& segment = trace[(later ? second : first)[i].second];
      const StackId stack = segment.block ? trace[segment.block].free_stack : StackId();
      return Named("layout-release",
                   std::string(later ? "after" : "before") + " released cached memory (" +
                       FormatBytes(segment.size) + ", empty_cache): " + StackTitle(trace, stack),
                   {first.size(), second.size()});
    }
    for (size_t call = 0; call < at_; ++call) {
      const auto freed = [&](size_t run) {
        return At(run, call).free_requested < At(run, at_).allocated;
      };
      if (freed(0) != freed(1))
        return Named("layout-free", "freed earlier in one run: " + CallText(0, call),
                     {freed(0), freed(1)});
    }
    return Named("layout-driver", "the same calls before it; the driver placed it elsewhere");
  }

  // The rest of both runs, and the nodes of the first that point to what lies elsewhere.
  FindingChange Moved() const {
    std::vector<uint64_t> rest[2];
    for (size_t run = 0; run < 2; ++run) {
      for (size_t i = at_; i < runs_[run].keys.size(); ++i)
        rest[run].push_back(std::hash<std::string>()(runs_[run].keys[i]));
    }
    std::vector<BlockId> moved;
    const auto pairs = CommonSubsequence(rest[0], rest[1]);
    FindingChange change = Named("layout-moved", "", {rest[0].size(), rest[1].size()});
    change.severity = Severity::kNote;
    for (const auto& [first, second] : pairs) {
      if (At(0, at_ + first).address == At(1, at_ + second).address) continue;
      moved.push_back(runs_[0].blocks[at_ + first]);
      change.bytes_before += At(0, at_ + first).size;
    }
    change.bytes_after = change.bytes_before;
    const uint64_t nodes = CountNodes([&](const Ran& trace, NodeId node) {
      return std::ranges::any_of(
          trace.accesses.Of(trace[node].accesses),
          [&](const Access& access) { return std::ranges::binary_search(moved, access.block); });
    });
    change.message = Counted(moved.size(), "allocation") + " from there on lie elsewhere (" +
                     FormatBytes(change.bytes_before) + "), and " + Counted(nodes, "node") +
                     " of graphs point there";
    return change;
  }

  // Of graphs of the first run.
  template <typename Is>
  uint64_t CountNodes(Is is) const {
    const Ran& trace = runs_[0].trace;
    uint64_t count = 0;
    for (const NodeId id : trace.graph_nodes) count += is(trace, id);
    return count;
  }

  // Nodes that hold what another process doesn't have, wherever its memory lies.
  void AddImmovable(std::vector<FindingChange>* found) const {
    const auto add = [&](const char* why, auto is) {
      const uint64_t count = CountNodes(is);
      if (count == 0) return;
      found->push_back(Named("layout-immovable", std::string("nodes that can't be moved: ") + why,
                             {count, count}));
      found->back().severity = Severity::kNote;
    };
    add("addresses of the host's memory", [](const Ran& trace, NodeId node) {
      return !RowsAt(trace.host_ends, trace[node].seq).empty() ||
             std::ranges::any_of(
                 trace.accesses.Of(trace[node].accesses),
                 [&](const Access& access) { return IsPinnedHost(trace, access.block); });
    });
    add("arguments that couldn't be read, or memory that wasn't recorded",
        [](const Ran& trace, NodeId node) { return MayTouchAnything(trace, node); });
    add("handles of this process", [](const Ran& trace, NodeId node) {
      const NodeKind kind = trace[node].kind;
      return kind == NodeKind::kHost ||
             (kind >= NodeKind::kEventWait && kind <= NodeKind::kExternalSemaphoreWait);
    });
  }

  std::array<LayoutRun, 2> runs_;
  // By key, how often: outside of captures and inside, in each run.
  std::map<std::string, std::array<std::array<uint64_t, 2>, 2>> counts_;
  size_t at_ = 0;  // the first call that differs
};

}  // namespace

std::vector<FindingChange> FindLayoutDiff(const Ran& before, const Ran& after) {
  return LayoutComparison(before, after).Find();
}

}  // namespace graphkit
