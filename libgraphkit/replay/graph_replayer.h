// One policy over one graph: what ReplayTrace does for each.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/alloc/policies/freed_by_order.h"
#include "libgraphkit/alloc/policies/policy.h"
#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/lower_bound.h"
#include "libgraphkit/analysis/order/slice.h"
#include "libgraphkit/replay/policy_memory.h"
#include "libgraphkit/replay/replay_trace.h"

namespace graphkit {

// A plan's arena is one segment, got as far as it is needed.
inline constexpr Bytes kPlanSegment = Bytes{2} << 20;

// A graph, and what all policies need of it. All of it must outlive the replay.
struct GraphTask {
  const Facts& facts;
  const GraphSlice& slice;
  const Order& walks;                                 // PolicyView's
  const std::vector<std::vector<StreamId>>& streams;  // OtherStreams
  const std::vector<Bytes>* planned = nullptr;  // by block: in place of a policy's; null: none
  std::vector<PoolBlocks> pools = {};
  // By marker rule, of each pool; none: not asked for.
  std::array<std::vector<LowerBound>, 2> bounds = {};
};

struct MemoryEvent {
  enum class Kind : uint8_t { kMalloc, kRecordStream, kFree };
  Seq seq = 0;
  Kind kind = Kind::kMalloc;
  BlockId block;
  uint32_t pool = 0;  // of the graph's
  StreamId stream = {};
};

// In capture order. `streams`: the rows of Trace::block_streams by block; null: left out.
std::vector<MemoryEvent> EventsOf(const Facts& facts, std::span<const PoolBlocks> pools,
                                  const Grouped* streams = nullptr);

// How policies see a graph's mallocs, made once for all of them.
struct GraphViews {
  std::vector<MemoryEvent> events;                     // in capture order
  std::vector<BlockId> blocks;                         // in the order of their mallocs
  std::array<bool, 2> plain = {};                      // by marker rule: PlainBlocks
  std::optional<MallocViews> streams = {};             // where memory stays with its stream
  std::array<std::optional<MallocViews>, 2> any = {};  // else, by marker rule

  const MallocViews* Of(const PolicyInfo& info) const {
    const auto& views = info.any_stream ? any[static_cast<size_t>(info.rule)] : streams;
    return views ? &*views : nullptr;
  }
  const MallocViews* proved() const {
    const auto& views = any[static_cast<size_t>(MarkerRule::kLastUse)];
    return views ? &*views : nullptr;
  }
};

GraphViews FindGraphViews(const GraphTask& task, std::span<const PolicyKind> policies,
                          const ReplayOptions& options);

struct ReplayedGraph {
  GraphReplay replay;
  // With a capacity: the mallocs that the graph's memory grew for, and how large it was then.
  std::vector<OutOfMemory> rises;
};

// `held`: the pools as the graphs before it left them, and then as it leaves them; null: it shares
// none, and begins with empty ones.
ReplayedGraph ReplayGraph(const GraphTask& task, const GraphViews& views, const PolicyInfo& info,
                          const ReplayOptions& options, HeldPools* held);

}  // namespace graphkit
