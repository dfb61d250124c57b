#include "libgraphkit/replay/replay_trace.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "libgraphkit/analysis/bound/lower_bound.h"
#include "libgraphkit/analysis/memory/usage.h"
#include "libgraphkit/replay/policy_memory.h"

namespace graphkit {
namespace {

// A plan's arena is one segment, got as far as it is needed.
constexpr Bytes kPlanSegment = Bytes{2} << 20;

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

// One policy over one graph.
class GraphReplayer {
 public:
  // `planned`: by block, takes the place of the policy's placements; may be null. `before`: what
  // earlier graphs hold.
  GraphReplayer(const Facts& facts, const PolicyInfo& info, const ReplayOptions& options,
                const GraphSlice& slice, const std::vector<Bytes>* planned, Bytes before,
                const std::vector<std::vector<StreamId>>& streams)
      : facts_(facts),
        info_(info),
        order_(facts.Blocks(info.rule)),
        slice_(slice),
        frontiers_(facts.trace, slice),
        view_{facts.trace, facts.in_edges, order_, frontiers_, streams, slice},
        options_(options),
        planned_(planned),
        before_(before),
        pools_(BlocksByPool(facts, slice.root)),
        tops_(pools_.size()) {
    out_.graph = slice.root;
    for (const PoolBlocks& pool : pools_) {
      out_.pools.push_back({pool.pool, {}, {}});
      out_.pools.back().arena.reserve(pool.blocks.size());
      if (!info.offline) out_.pools.back().segments.reserve(pool.blocks.size());
    }
    events_ = EventsOf(facts_, pools_);
    MakeMemory();
    freed_at_.resize(slice.blocks.size());
  }

  GraphReplay Run() {
    const auto start = std::chrono::steady_clock::now();
    if (planned_ == nullptr && info_.offline) MakePlan();
    for (const MemoryEvent& event : events_) {
      if (info_.by_frontiers) frontiers_.AdvanceTo(event.seq);
      ++out_.figures.operations;
      if (event.free) {
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
    AddBounds();
    if (options_.verify) Verify();
    return std::move(out_);
  }

 private:
  size_t Number(BlockId block) const { return slice_.blocks.NumberOf(block.index()); }
  Bytes Size(BlockId block) const { return RoundedSize(facts_.trace[block]); }

  // By an index where it finds the same as scanning.
  void MakeMemory() {
    const PolicyMemoryOptions options{options_.config, options_.missed};
    std::vector<BlockId> blocks;
    for (const MemoryEvent& event : events_) {
      if (!event.free) blocks.push_back(event.block);
    }
    if (!options_.scan) {
      memory_ = IndexedMemory(facts_, info_, slice_, blocks, pools_.size(), options);
    }
    policy_ = info_.make(view_, memory_ ? PolicySearch::kIndex : PolicySearch::kScan);
    if (!memory_) memory_ = ScanningMemory(facts_, slice_, *policy_, pools_.size(), options);
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
    if (extent_ != extent || reserved_ != reserved) CheckCapacity(block);
  }

  void Place(BlockId block, uint32_t pool, Bytes size) {
    const PolicyMemory::Placed placed = memory_->Place(block, pool, size);
    if (placed.missed) out_.figures.missed += placed.arena_added;
    extent_ += placed.arena_added;
    reserved_ += placed.segments_added;
    out_.pools[pool].arena.push_back({block, placed.arena, size});
    out_.pools[pool].segments.push_back({block, placed.segments, size});
  }

  bool planned() const { return planned_ != nullptr || info_.offline; }

  void PutAsPlanned(BlockId block, uint32_t pool, Bytes size) {
    const Bytes offset = planned_ != nullptr ? (*planned_)[block.index()] : offsets_[Number(block)];
    out_.pools[pool].arena.push_back({block, offset, size});
    Bytes& top = tops_[pool];
    const Bytes higher = std::max(top, offset + size);
    extent_ += higher - top;
    reserved_ += RoundUp(higher, kPlanSegment) - RoundUp(top, kPlanSegment);
    top = higher;
  }

  void MakePlan() {
    offsets_.resize(slice_.blocks.size());
    for (const PoolBlocks& pool : pools_) {
      const CapturePlan plan = PlanCapture(order_, pool.blocks, options_.planner);
      for (size_t i = 0; i < pool.blocks.size(); ++i) {
        offsets_[Number(pool.blocks[i])] = plan.offsets[i];
      }
    }
  }

  void CheckCapacity(BlockId block) {
    if (!options_.capacity || out_.out_of_memory) return;
    if (before_ + reserved_ <= *options_.capacity) return;
    out_.out_of_memory = {block, facts_.trace[block].allocated, before_ + reserved_};
  }

  void AddBounds() {
    if (!options_.bound) return;
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

  const Facts& facts_;
  const PolicyInfo& info_;
  BlockOrder order_;
  const GraphSlice& slice_;
  FrontierReplay frontiers_;
  PolicyView view_;
  std::unique_ptr<ReusePolicy> policy_;
  const ReplayOptions& options_;
  const std::vector<Bytes>* planned_;
  Bytes before_;
  std::vector<PoolBlocks> pools_;
  std::vector<MemoryEvent> events_;
  std::unique_ptr<PolicyMemory> memory_;
  std::vector<uint64_t> freed_at_;  // by block of the graph: the operation
  Bytes allocated_ = 0;
  Bytes active_ = 0;
  Bytes reserved_ = 0;
  Bytes extent_ = 0;
  std::vector<Bytes> offsets_;  // of its own plan: by block of the graph
  std::vector<Bytes> tops_;     // of a plan: by pool, the highest byte used so far
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
  deferred_byte_operations += other.deferred_byte_operations;
  pending_looks += other.pending_looks;
  reclaimed += other.reclaimed;
  reclaim_operations += other.reclaim_operations;
  seconds += other.seconds;
}

namespace {

// Where the blocks were when the trace was recorded, the gaps between them left out.
std::vector<PlacedBlock> RecordedPlacement(const Facts& facts, std::vector<PlacedBlock> blocks) {
  std::vector<uint32_t> by_address(blocks.size());
  std::iota(by_address.begin(), by_address.end(), 0u);
  std::ranges::stable_sort(by_address, {},
                           [&](uint32_t i) { return facts.trace[blocks[i].block].address; });
  uint64_t end = 0;  // of the addresses so far
  Bytes top = 0;     // and the offset that it has
  for (const uint32_t i : by_address) {
    const uint64_t address = facts.trace[blocks[i].block].address;
    if (address > end) end = address;
    blocks[i].offset = top - (end - address);
    if (address + blocks[i].size > end) {
      top += address + blocks[i].size - end;
      end = address + blocks[i].size;
    }
  }
  return blocks;
}

GraphExecution ExecuteOnDevice(const Facts& facts, const Program& program, const Program& recorded,
                               const ReplayOptions& options) {
  Result<GraphExecution> execution = options.device->Execute(facts, program, *options.execute);
  if (!execution) return {.on = options.device->name(), .failed = execution.error().message};
  if (!options.device->timed()) return *execution;
  const Result<double> planned = options.device->Time(facts, program);
  const Result<double> before = options.device->Time(facts, recorded);
  if (planned) execution->launch_seconds = *planned;
  if (before) execution->recorded_launch_seconds = *before;
  return *execution;
}

GraphExecution Execute(const Facts& facts, PolicyKind policy, const GraphReplay& graph,
                       const ReplayOptions& options) {
  std::vector<std::vector<PlacedBlock>> pools;
  std::vector<std::vector<PlacedBlock>> recorded;
  for (const ReplayedPool& pool : graph.pools) {
    pools.push_back(pool.arena);
    recorded.push_back(RecordedPlacement(facts, pool.arena));
  }
  const BlockOrder order = facts.Blocks(InfoOf(policy).rule);
  const Program program = MakeProgram(facts, graph.graph, order, pools);
  GraphExecution execution =
      options.device == nullptr
          ? ExecuteOnHost(program, *options.execute)
          : ExecuteOnDevice(facts, program, MakeProgram(facts, graph.graph, order, recorded),
                            options);
  execution.graph = graph.graph;
  return execution;
}

// A plan of a sequence holds these graphs only.
std::set<GraphId> GraphsOf(const PlannedMemory& plan) {
  return {plan.sequence.begin(), plan.sequence.end()};
}

std::vector<Bytes> OffsetsOf(const Facts& facts, const PlannedMemory& plan) {
  std::vector<Bytes> offsets(facts.trace.blocks.size());
  for (const Placement& placement : plan.placements) {
    if (placement.block < offsets.size()) offsets[placement.block] = placement.offset;
  }
  return offsets;
}

PolicyReplay ReplayGraphs(const Facts& facts, PolicyKind policy, const ReplayOptions& options,
                          const PlannedMemory* plan) {
  PolicyReplay replay;
  replay.policy = policy;
  replay.assumes = InfoOf(policy).assumes;
  replay.verified = options.verify;
  const std::vector<std::vector<StreamId>> streams = OtherStreams(facts.trace);
  const Slices slices(facts.trace, facts.roots, facts.blocks);
  const std::vector<Bytes> planned =
      plan != nullptr ? OffsetsOf(facts, *plan) : std::vector<Bytes>();
  const std::set<GraphId> held = plan != nullptr ? GraphsOf(*plan) : std::set<GraphId>();
  for (size_t i = 0; i < facts.blocks.size(); ++i) {
    if (BlocksByPool(facts, GraphId(i)).empty()) continue;
    if (!held.empty() && !held.contains(GraphId(i))) continue;
    GraphReplay graph =
        GraphReplayer(facts, InfoOf(policy), options, slices.Of(GraphId(i)),
                      plan != nullptr ? &planned : nullptr, replay.figures.peak_reserved, streams)
            .Run();
    replay.figures.Add(graph.figures);
    if (options.execute) replay.executions.push_back(Execute(facts, policy, graph, options));
    if (!graph.unsafe.empty()) replay.verified = false;
    replay.graphs.push_back(std::move(graph));
  }
  return replay;
}

// The graphs run one at a time, in the same memory.
void ShareMemory(const Facts& facts, const PlannedMemory& plan, const ReplayOptions& options,
                 PolicyReplay* replay) {
  PolicyFigures& figures = replay->figures;
  figures.peak_extent = plan.peak;
  figures.lower_bound = plan.lower_bound;
  figures.peak_reserved = figures.peak_allocated = figures.peak_active = 0;
  for (const PlannedArena& arena : plan.arenas) {
    figures.peak_reserved += RoundUp(arena.peak, kPlanSegment);
  }
  for (const GraphReplay& graph : replay->graphs) {
    figures.peak_allocated = std::max(figures.peak_allocated, graph.figures.peak_allocated);
    figures.peak_active = std::max(figures.peak_active, graph.figures.peak_active);
  }
  if (!options.verify) return;
  replay->destroyed = ValidateSequence(facts, plan);
  if (!replay->destroyed.empty()) replay->verified = false;
}

}  // namespace

PolicyReplay ReplayTrace(const Facts& facts, PolicyKind policy, const ReplayOptions& options) {
  return ReplayGraphs(facts, policy, options, nullptr);
}

PolicyReplay ReplayPlan(const Facts& facts, const PlannedMemory& plan, const ReplayOptions& options,
                        const std::string& name) {
  PolicyReplay replay = ReplayGraphs(facts, kPolicyOfPlans, options, &plan);
  replay.given = name;
  if (!plan.sequence.empty()) ShareMemory(facts, plan, options, &replay);
  return replay;
}

std::vector<UnsafePair> VerifyPlan(const Facts& facts, const PlannedMemory& plan, MarkerRule rule) {
  // By arena, and in a sequence by graph.
  std::map<std::pair<uint32_t, GraphId>, std::vector<PlacedBlock>> arenas;
  std::vector<PlacedBlock>* blocks_of = nullptr;
  std::pair<uint32_t, GraphId> last;
  for (const Placement& placement : plan.placements) {
    const BlockId block(placement.block);
    const GraphId graph = plan.sequence.empty() ? GraphId() : facts.lives[block].root;
    const std::pair key(placement.arena, graph);
    if (blocks_of == nullptr || key != last) {
      blocks_of = &arenas[key];
      if (plan.sequence.empty()) blocks_of->reserve(plan.arenas[placement.arena].blocks);
    }
    last = key;
    blocks_of->push_back({block, placement.offset, placement.size});
  }
  std::vector<UnsafePair> unsafe;
  for (auto& [arena, blocks] : arenas) {
    if (!std::ranges::is_sorted(blocks, {}, &PlacedBlock::block)) {
      std::ranges::stable_sort(blocks, {}, &PlacedBlock::block);
    }
    const std::vector<UnsafePair> found = ValidatePlacements(facts.Blocks(rule), blocks);
    unsafe.insert(unsafe.end(), found.begin(), found.end());
  }
  return unsafe;
}

}  // namespace graphkit
