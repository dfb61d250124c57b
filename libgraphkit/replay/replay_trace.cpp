#include "libgraphkit/replay/replay_trace.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "libgraphkit/alloc/piece_map.h"
#include "libgraphkit/analysis/lower_bound.h"
#include "libgraphkit/analysis/usage.h"

namespace graphkit {
namespace {

bool HandedOut(const Trace& trace, const Block& block) {
  if (block.pool.index() >= trace.pools.size()) return true;
  const PoolKind kind = trace[block.pool].kind;
  return kind != PoolKind::kDevice && kind != PoolKind::kHost && kind != PoolKind::kManaged;
}

struct MemoryEvent {
  Seq seq;
  bool free;
  BlockId block;
  uint32_t pool;
};

std::vector<MemoryEvent> EventsOf(const Facts& facts, std::span<const PoolBlocks> pools) {
  std::vector<MemoryEvent> events;
  for (uint32_t pool = 0; pool < pools.size(); ++pool) {
    for (const BlockId block : pools[pool].blocks) {
      events.push_back({facts.trace[block].allocated, false, block, pool});
      if (!facts.lives[block].freed) continue;
      events.push_back({facts.trace[block].free_requested, true, block, pool});
    }
  }
  std::ranges::sort(events, [](const MemoryEvent& a, const MemoryEvent& b) {
    return a.seq != b.seq ? a.seq < b.seq : a.block < b.block;
  });
  return events;
}

// A pool's memory, with and without segments.
struct PoolMemory {
  PieceMap arena;
  PieceMap segments;
};

// One policy over one graph.
class GraphReplayer {
 public:
  GraphReplayer(const Facts& facts, PolicyKind kind, const ReplayOptions& options,
                std::vector<PoolBlocks> pools)
      : facts_(facts),
        order_(facts.Blocks(InfoOf(kind).rule)),
        safe_(facts.Blocks(MarkerRule::kLastUse)),
        frontiers_(facts.trace),
        view_{facts.trace, facts.in_edges, order_, frontiers_, OtherStreams(facts.trace)},
        policy_(MakePolicy(kind, view_)),
        options_(options),
        pools_(std::move(pools)) {
    for (const PoolBlocks& pool : pools_) {
      memory_.push_back({PieceMap(), PieceMap(options.config)});
      out_.pools.push_back({pool.pool, {}, {}});
    }
    may_take_.resize(facts.trace.blocks.size());
  }

  GraphReplay Run() {
    const auto start = std::chrono::steady_clock::now();
    for (const MemoryEvent& event : EventsOf(facts_, pools_)) {
      frontiers_.AdvanceTo(event.seq);
      ++out_.figures.operations;
      if (event.free) {
        Free(event.block);
      } else {
        Malloc(event.block, event.pool);
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    out_.figures.seconds = took.count();
    for (const BlockId block : policy_->pending()) out_.figures.never_reclaimed += Size(block);
    for (const PoolMemory& memory : memory_) {
      out_.figures.peak_extent += memory.arena.reserved();
      out_.figures.peak_reserved += memory.segments.reserved();
    }
    AddBounds();
    if (options_.verify) Verify();
    return std::move(out_);
  }

 private:
  Bytes Size(BlockId block) const { return RoundedSize(facts_.trace[block]); }

  void Free(BlockId block) {
    allocated_ -= Size(block);
    if (policy_->Free(block)) active_ -= Size(block);
  }

  void Malloc(BlockId block, uint32_t pool) {
    const Bytes size = Size(block);
    for (const BlockId complete : policy_->BeforeMalloc(block)) active_ -= Size(complete);
    allocated_ += size;
    active_ += size;
    out_.figures.peak_allocated = std::max(out_.figures.peak_allocated, allocated_);
    out_.figures.peak_active = std::max(out_.figures.peak_active, active_);
    if (size == 0) return;
    ++stamp_;
    const auto offered = [&](BlockId last, StreamId owner) {
      return last.valid() ? Offered(last, block) : policy_->OffersFresh(owner, block);
    };
    const StreamId stream = facts_.trace[block].stream;
    PoolMemory& memory = memory_[pool];
    const auto safe = [&](BlockId last, StreamId) {
      return last.valid() && policy_->freed(last) && safe_.Before(last, block);
    };
    const PieceMap& arena = memory.arena;
    const Bytes before = arena.reserved();
    const bool fits = before >= size && !arena.Fits(size, offered) && arena.Fits(size, safe);
    const Bytes offset = memory.arena.Place(block, size, stream, offered);
    if (fits) out_.figures.missed += memory.arena.added();
    out_.pools[pool].arena.push_back({block, offset, size});
    out_.pools[pool].segments.push_back(
        {block, memory.segments.Place(block, size, stream, offered), size});
  }

  // The same pair is asked for again and again while a place is looked for.
  bool Offered(BlockId last, BlockId block) {
    Answer& answer = may_take_[last.index()];
    if (answer.stamp != stamp_) answer = {stamp_, policy_->Offers(last, block)};
    return answer.yes;
  }

  void AddBounds() {
    for (const PoolBlocks& pool : pools_) {
      out_.figures.lower_bound += FindLowerBound(order_, pool.blocks).bytes;
    }
  }

  void Verify() {
    for (const ReplayedPool& pool : out_.pools) {
      for (const auto* placed : {&pool.arena, &pool.segments}) {
        for (const UnsafePair& pair : ValidatePlacements(order_, *placed)) {
          if (std::ranges::find(out_.unsafe, pair) == out_.unsafe.end()) {
            out_.unsafe.push_back(pair);
          }
        }
      }
    }
  }

  struct Answer {
    uint32_t stamp = 0;
    bool yes = false;
  };

  const Facts& facts_;
  BlockOrder order_;
  BlockOrder safe_;
  FrontierReplay frontiers_;
  PolicyView view_;
  std::unique_ptr<ReusePolicy> policy_;
  const ReplayOptions& options_;
  std::vector<PoolBlocks> pools_;
  std::vector<PoolMemory> memory_;
  std::vector<Answer> may_take_;  // by block: what was said of this malloc
  uint32_t stamp_ = 0;
  Bytes allocated_ = 0;
  Bytes active_ = 0;
  GraphReplay out_;
};

}  // namespace

void PolicyFigures::Add(const PolicyFigures& other) {
  peak_reserved += other.peak_reserved;
  peak_allocated += other.peak_allocated;
  peak_active += other.peak_active;
  peak_extent += other.peak_extent;
  never_reclaimed += other.never_reclaimed;
  missed += other.missed;
  lower_bound += other.lower_bound;
  operations += other.operations;
  seconds += other.seconds;
}

std::vector<PoolBlocks> BlocksByPool(const Facts& facts, GraphId graph) {
  std::map<PoolId, std::vector<BlockId>> by_pool;
  for (const BlockId block : facts.blocks[graph.index()]) {
    const Block& b = facts.trace[block];
    if (HandedOut(facts.trace, b)) by_pool[b.pool].push_back(block);
  }
  std::vector<PoolBlocks> pools;
  for (auto& [pool, blocks] : by_pool) pools.push_back({pool, std::move(blocks)});
  return pools;
}

PolicyReplay ReplayTrace(const Facts& facts, PolicyKind policy, const ReplayOptions& options) {
  PolicyReplay replay;
  replay.policy = policy;
  if (InfoOf(policy).rule == MarkerRule::kLastUse) replay.assumes = Assumption::kArguments;
  replay.verified = options.verify;
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    std::vector<PoolBlocks> pools = BlocksByPool(facts, GraphId(i));
    if (pools.empty()) continue;
    GraphReplay graph = GraphReplayer(facts, policy, options, std::move(pools)).Run();
    graph.graph = GraphId(i);
    replay.figures.Add(graph.figures);
    if (!graph.unsafe.empty()) replay.verified = false;
    replay.graphs.push_back(std::move(graph));
  }
  return replay;
}

}  // namespace graphkit
