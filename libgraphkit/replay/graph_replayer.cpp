#include "libgraphkit/replay/graph_replayer.h"

#include "libgraphkit/replay/policy_memory.h"

namespace graphkit {
namespace {

// One policy over one graph.
class GraphReplayer {
 public:
  GraphReplayer(const GraphTask& task, const GraphViews& views, const PolicyInfo& info,
                const ReplayOptions& options, HeldPools* held)
      : facts_(task.facts),
        info_(info),
        order_(facts_.Blocks(info.rule)),
        slice_(task.slice),
        frontiers_(facts_.trace, slice_),
        views_(views),
        view_{facts_.trace, facts_.in_edges(), order_, task.walks,
              frontiers_,   task.streams,      slice_},
        options_(options),
        planned_(task.planned),
        held_(held),
        pools_(task.pools),
        bounds_(task.bounds[static_cast<size_t>(info.rule)]) {
    out_.graph = slice_.root;
    for (const PoolBlocks& pool : pools_) {
      out_.pools.push_back({pool.pool, {}, {}});
      out_.pools.back().arena.reserve(pool.blocks.size());
      if (!info.offline) out_.pools.back().segments.reserve(pool.blocks.size());
    }
    if (held_ != nullptr && !views_.events.empty()) {
      held_->Begin(views_.events.front().seq, facts_.trace[views_.blocks.back()].allocated);
      stayed_ = held_->living();
      allocated_ = active_ = stayed_;
      if (planned_ != nullptr) tops_ = held_->tops();
      if (planned_ == nullptr) extent_ = stayed_;
      for (const auto& [pool, top] : tops_) extent_ += top;
      reserved_ = planned() ? RoundUp(extent_, kPlanSegment) : held_->reserved();
    }
    MakeMemory();
    freed_at_.resize(slice_.blocks.size());
  }

  ReplayedGraph Run() {
    const auto start = std::chrono::steady_clock::now();
    if (planned_ == nullptr && info_.offline) MakePlan();
    for (const MemoryEvent& event : views_.events) {
      ++out_.figures.operations;
      if (event.kind == MemoryEvent::Kind::kFree) {
        Free(event.block);
      } else {
        Malloc(event.block, event.pool);
      }
      out_.figures.deferred_byte_operations += active_ - allocated_;
      if (options_.timeline) {
        out_.timeline.push_back({event.seq, allocated_, active_, reserved_, extent_});
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    out_.figures.seconds = took.count();
    for (const BlockId block : policy_->Pending()) out_.figures.never_reclaimed += Size(block);
    out_.figures.pending_looks = policy_->looks();
    out_.figures.peak_extent = extent_;
    out_.figures.peak_reserved = reserved_;
    out_.steps = frontiers_.steps();
    if (options_.bound && held_ != nullptr) out_.figures.lower_bound = held_->staying();
    for (const LowerBound& bound : bounds_) {
      if (options_.bound) out_.figures.lower_bound += bound.bytes;
    }
    if (options_.verify) Verify();
    for (const ReplayedPool& pool : out_.pools) {
      if (held_ != nullptr) held_->Add(pool.pool, planned() ? pool.arena : pool.segments);
    }
    return {std::move(out_), std::move(rises_)};
  }

 private:
  size_t Number(BlockId block) const { return slice_.blocks.NumberOf(block.index()); }
  Bytes Size(BlockId block) const { return RoundedSize(facts_.trace[block]); }

  // By an index where it finds the same as scanning.
  void MakeMemory() {
    const bool compares = options_.missed && info_.misses;
    PolicyMemory::Views views{views_.Of(info_), compares ? views_.proved() : nullptr};
    const bool plain = views_.plain[static_cast<size_t>(info_.rule)];
    const bool indexed = !options_.scan && views.offered != nullptr &&
                         (!compares || views.proved != nullptr) && (!info_.by_order || plain) &&
                         PolicyMemory::CanIndex(info_, views);
    out_.scanned = !indexed;
    if (!indexed) views = {};
    view_.views = views.offered;
    policy_ = info_.make(view_);
    memory_.emplace(facts_, slice_, info_, *policy_, views, pools_.size(), options_.config,
                    options_.missed);
    for (uint32_t pool = 0; held_ != nullptr && pool < pools_.size(); ++pool)
      memory_->Hold(pool, held_->Of(pools_[pool].pool), views_.blocks);
  }

  void Free(BlockId block) {
    const Bytes size = Size(block);
    allocated_ -= size;
    freed_at_[Number(block)] = out_.figures.operations;
    if (policy_->Free(block)) active_ -= size;
    TakeOffers();
    memory_->Freed(block);
  }

  void TakeOffers() {
    for (const Offer& offer : policy_->offers()) memory_->Take(offer);
  }

  void Malloc(BlockId block, uint32_t pool) {
    const Bytes size = Size(block);
    for (const BlockId complete : policy_->BeforeMalloc(block)) {
      active_ -= Size(complete);
      ++out_.figures.reclaimed;
      out_.figures.reclaim_operations += out_.figures.operations - freed_at_[Number(complete)];
    }
    TakeOffers();
    memory_->BeforeMalloc(block);
    allocated_ += size;
    active_ += size;
    out_.figures.peak_allocated = std::max(out_.figures.peak_allocated, allocated_);
    out_.figures.peak_active = std::max(out_.figures.peak_active, active_);
    if (size == 0) return;
    const Bytes extent = extent_;
    const Bytes reserved = reserved_;
    if (planned()) {
      PutAsPlanned(block, pool, size);
    } else {
      Place(block, pool, size);
    }
    if (options_.capacity && (extent_ != extent || reserved_ != reserved)) {
      rises_.push_back({block, facts_.trace[block].allocated, reserved_});
    }
  }

  void Place(BlockId block, uint32_t pool, Bytes size) {
    const PolicyMemory::Placed placed = memory_->Place(block, pool, size);
    if (placed.missed) out_.figures.missed += placed.arena_added;
    extent_ += placed.arena_added;
    reserved_ += placed.segments_added;
    if (held_ != nullptr && placed.segments_added > 0) {
      held_->AddSegment(pools_[pool].pool,
                        {placed.segments, placed.segments_added, facts_.trace[block].stream,
                         IsSmall(options_.config, size)});
    }
    out_.pools[pool].arena.push_back({block, placed.arena, size});
    out_.pools[pool].segments.push_back({block, placed.segments, size});
  }

  bool planned() const { return planned_ != nullptr || info_.offline; }

  void PutAsPlanned(BlockId block, uint32_t pool, Bytes size) {
    const Bytes offset = planned_ != nullptr ? (*planned_)[block.index()] : offsets_[Number(block)];
    out_.pools[pool].arena.push_back({block, offset, size});
    Bytes& top = tops_[pools_[pool].pool];
    const Bytes higher = std::max(top, offset + size);
    extent_ += higher - top;
    reserved_ += RoundUp(higher, kPlanSegment) - RoundUp(top, kPlanSegment);
    top = higher;
    if (stayed_ > 0) reserved_ = RoundUp(extent_, kPlanSegment);
  }

  void MakePlan() {
    offsets_.resize(slice_.blocks.size());
    CapturePlannerOptions planner = options_.planner;
    for (size_t pool = 0; pool < pools_.size(); ++pool) {
      planner.bound = &bounds_[pool];
      const CapturePlan plan = PlanCapture(order_, pools_[pool].blocks, planner);
      for (size_t i = 0; i < pools_[pool].blocks.size(); ++i)
        offsets_[Number(pools_[pool].blocks[i])] = plan.offsets[i];
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

  const Facts& facts_;
  const PolicyInfo& info_;
  BlockOrder order_;
  const GraphSlice& slice_;
  FrontierReplay frontiers_;
  const GraphViews& views_;
  PolicyView view_;
  std::unique_ptr<ReusePolicy> policy_;
  const ReplayOptions& options_;
  const std::vector<Bytes>* planned_;
  HeldPools* const held_;
  const std::vector<PoolBlocks>& pools_;
  const std::vector<LowerBound>& bounds_;  // of each pool, where they were asked for
  std::vector<OutOfMemory> rises_;
  std::optional<PolicyMemory> memory_;
  std::vector<uint64_t> freed_at_;  // by block of the graph: the operation
  Bytes stayed_ = 0;                // blocks of graphs before it in its pools
  Bytes allocated_ = 0;
  Bytes active_ = 0;
  Bytes reserved_ = 0;
  Bytes extent_ = 0;
  std::vector<Bytes> offsets_;    // of its own plan: by block of the graph
  std::map<PoolId, Bytes> tops_;  // of a plan: the highest byte used so far
  GraphReplay out_;
};

}  // namespace

std::vector<MemoryEvent> EventsOf(const Facts& facts, std::span<const PoolBlocks> pools,
                                  const Grouped* streams) {
  using Kind = MemoryEvent::Kind;
  std::vector<MemoryEvent> events;
  for (uint32_t pool = 0; pool < pools.size(); ++pool) {
    for (const BlockId id : pools[pool].blocks) {
      const Block& block = facts.trace[id];
      events.push_back({block.allocated, Kind::kMalloc, id, pool, block.stream});
      for (const uint32_t row : streams ? streams->Of(id.index()) : std::span<const uint32_t>()) {
        const BlockStream& use = facts.trace.block_streams[row];
        events.push_back({use.seq, Kind::kRecordStream, id, pool, use.stream});
      }
      if (!facts.lives()[id].freed) continue;
      events.push_back({block.free_requested, Kind::kFree, id, pool,
                        block.free_stream ? block.free_stream : block.stream});
    }
  }
  std::ranges::stable_sort(events, [](const MemoryEvent& a, const MemoryEvent& b) {
    return a.seq != b.seq ? a.seq < b.seq : a.block < b.block;
  });
  return events;
}

// The views that these policies ask for.
GraphViews FindGraphViews(const GraphTask& task, std::span<const PolicyKind> policies,
                          const ReplayOptions& options) {
  GraphViews views{.events = EventsOf(task.facts, task.pools)};
  for (const MemoryEvent& event : views.events) {
    if (event.kind == MemoryEvent::Kind::kMalloc) views.blocks.push_back(event.block);
  }
  if (options.scan) return views;
  for (const MarkerRule rule : {MarkerRule::kAtFree, MarkerRule::kLastUse}) {
    const auto asks = [&](PolicyKind kind) { return InfoOf(kind).rule == rule; };
    const auto asks_any = [&](PolicyKind kind) {
      return (asks(kind) && InfoOf(kind).any_stream) ||
             (rule == MarkerRule::kLastUse && options.missed && InfoOf(kind).misses);
    };
    const bool any = std::ranges::any_of(policies, asks_any);
    if (!any && std::ranges::none_of(policies, asks)) continue;
    const BlockOrder order = task.facts.Blocks(rule);
    const auto number = static_cast<size_t>(rule);
    views.plain[number] = PlainBlocks(order, task.slice, views.blocks);
    if (any && views.plain[number]) {
      views.any[number].emplace(order, task.slice, views.blocks, true);
    }
  }
  const Ran& trace = task.facts.trace;
  if (std::ranges::all_of(views.blocks, [&](BlockId b) { return trace[b].stream.valid(); })) {
    views.streams.emplace(task.facts.Blocks(MarkerRule::kAtFree), task.slice, views.blocks, false);
  }
  return views;
}

ReplayedGraph ReplayGraph(const GraphTask& task, const GraphViews& views, const PolicyInfo& info,
                          const ReplayOptions& options, HeldPools* held) {
  return GraphReplayer(task, views, info, options, held).Run();
}

}  // namespace graphkit
