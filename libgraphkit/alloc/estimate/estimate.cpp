#include "libgraphkit/alloc/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "libgraphkit/alloc/models/caching_allocator.h"
#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/exec_memory.h"
#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/checked_number.h"
#include "libgraphkit/model/caching_config.h"

namespace graphkit {
namespace {

constexpr size_t kMostSizes = 100'000;
constexpr size_t kMostCandidates = 1024;  // to choose from
constexpr uint64_t kLargestSize = 1'000'000'000'000;

// The captures of one size, as they are expected: whose calls, and the bytes of each block.
struct ExpectedRound {
  uint64_t size = 0;
  const CapturedRound* like = nullptr;
  std::vector<std::vector<ByteRange>> blocks;  // by graph of the round
};

const CapturedRound& Nearest(const std::vector<CapturedRound>& rounds, uint64_t size) {
  return *std::ranges::min_element(rounds, {}, [size](const CapturedRound& round) {
    return std::abs(std::log(static_cast<double>(round.size) / static_cast<double>(size)));
  });
}

ExpectedRound Expect(const CapturedSizes& captured, uint64_t size) {
  ExpectedRound round{.size = size, .like = &Nearest(captured.rounds, size), .blocks = {}};
  for (const uint32_t graph : round.like->graphs) {
    std::vector<ByteRange>& blocks = round.blocks.emplace_back();
    for (const BlockGrowth& growth : captured.growth[captured.graphs[graph].kind])
      blocks.push_back(BytesAt(growth, size));
  }
  return round;
}

// The first size whose blocks, with those of the sizes before it, no address space holds; 0: none.
uint64_t BeyondMemory(const std::vector<ExpectedRound>& rounds) {
  MemorySum sum;
  for (const ExpectedRound& round : rounds) {
    for (const std::vector<ByteRange>& blocks : round.blocks) {
      for (const ByteRange& block : blocks) {
        if (block.high > kLargestMemory || !sum.Add(block.high)) return round.size;
      }
    }
  }
  return 0;
}

// PyTorch's allocator while the captures go on, for one choice out of the intervals.
class PoolRun {
 public:
  PoolRun(const Ran& trace, const CapturedSizes& captured, const CachingConfig& config,
          const SizeChoice& choice)
      : trace_(trace), captured_(captured), choice_(choice), allocator_(config, &driver_) {}

  // `pools`: of each graph of the round.
  void Capture(const ExpectedRound& round, const std::vector<PoolHandle>& pools) {
    std::vector<BlockHandle> before = std::exchange(late_, {});
    std::vector<std::vector<BlockHandle>> handles;
    for (const auto& blocks : round.blocks) handles.emplace_back(blocks.size());
    for (const PoolCall& call : round.like->calls) {
      BlockHandle& handle = handles[call.graph][call.block];
      if (call.what == PoolCall::What::kAllocate) {
        handle = Allocate(round, call, pools[call.graph]);
      } else if (IsLate(call)) {
        late_.push_back(handle);
      } else {
        allocator_.Free(handle);
      }
    }
    for (const BlockHandle handle : before) allocator_.Free(handle);
  }

  PoolHandle NewPool() { return allocator_.CreatePool(); }
  Bytes reserved() const { return allocator_.statistics().reserved; }

 private:
  bool IsLate(const PoolCall& call) const {
    return call.what == PoolCall::What::kFreeAfterNext ||
           (call.what == PoolCall::What::kFreeAtSomeTime && choice_.late);
  }

  BlockHandle Allocate(const ExpectedRound& round, const PoolCall& call, PoolHandle pool) {
    const CapturedGraph& like = captured_.graphs[round.like->graphs[call.graph]];
    const Bytes ByteRange::*const end = choice_.ends[like.kind][call.block];
    const Bytes size = std::max<Bytes>(1, round.blocks[call.graph][call.block].*end);
    const uint64_t stream = trace_[like.blocks[call.block]].stream.value;
    return *allocator_.Malloc({size, stream, pool});  // the driver has no end
  }

  const Ran& trace_;
  const CapturedSizes& captured_;
  const SizeChoice& choice_;
  BumpDriver driver_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> late_;  // freed while the next size is captured
};

// The allocator with PyTorch's rules, and what it is asked.
struct PoolModel {
  const Ran& trace;
  const CapturedSizes& captured;
  CachingConfig config;
  std::vector<SizeChoice> choices;  // the likeliest first
};

// The least and the most over all choices.
void Widen(Bytes reserved, bool first, ByteRange* range) {
  if (first) *range = {reserved, reserved, reserved};
  range->low = std::min(range->low, reserved);
  range->high = std::max(range->high, reserved);
}

// Reserved after each size.
std::vector<ByteRange> GrowthOfOnePool(const PoolModel& model,
                                       const std::vector<ExpectedRound>& rounds) {
  std::vector<ByteRange> reserved(rounds.size());
  for (const SizeChoice& choice : model.choices) {
    PoolRun run(model.trace, model.captured, model.config, choice);
    const PoolHandle pool = run.NewPool();
    for (size_t i = 0; i < rounds.size(); ++i) {
      run.Capture(rounds[i], std::vector<PoolHandle>(rounds[i].blocks.size(), pool));
      Widen(run.reserved(), &choice == model.choices.data(), &reserved[i]);
    }
  }
  return reserved;
}

ByteRange OwnPools(const PoolModel& model, const ExpectedRound& round) {
  ByteRange reserved;
  for (const SizeChoice& choice : model.choices) {
    PoolRun run(model.trace, model.captured, model.config, choice);
    std::vector<PoolHandle> pools;
    for (size_t i = 0; i < round.blocks.size(); ++i) pools.push_back(run.NewPool());
    run.Capture(round, pools);
    Widen(run.reserved(), &choice == model.choices.data(), &reserved);
  }
  return reserved;
}

// Without the execs. `after` and `before`: the pool that all sizes share.
EstimatedSize SizeOf(const PoolModel& model, const ExpectedRound& round, const ByteRange& after,
                     const ByteRange& before) {
  return {
      .size = round.size,
      .graphs = round.blocks.size(),
      .captured = round.like->size == round.size,
      .like = round.like->size,
      .own_pools = OwnPools(model, round),
      .pool_growth = {after.low - before.low, after.bytes - before.bytes, after.high - before.high},
      .execs = {}};
}

// PyTorch's defaults where its settings say something that the model doesn't have.
CachingConfig ConfigFor(MemoryEstimate* estimate) {
  if (estimate->alloc_conf.empty()) return {};
  const Result<CachingConfig> config = WithAllocConf({}, estimate->alloc_conf);
  if (config) return *config;
  estimate->notes.push_back("PyTorch's allocator with its defaults, not with " +
                            estimate->alloc_conf + ": " + Describe(config.error()));
  return {};
}

std::vector<EstimatedKind> KindsOf(const Ran& trace, const CapturedSizes& captured) {
  std::vector<EstimatedKind> kinds(captured.kinds);
  std::vector<std::set<uint64_t>> sizes(captured.kinds);
  for (const CapturedGraph& graph : captured.graphs) {
    EstimatedKind& kind = kinds[graph.kind];
    if (kind.graphs++ == 0) kind.first = graph.graph;
    kind.blocks = graph.blocks.size();
    sizes[graph.kind].insert(graph.size);
  }
  for (const NodeId id : trace.graph_nodes) {
    for (EstimatedKind& kind : kinds) kind.nodes += kind.first == trace[id].graph;
  }
  for (uint32_t i = 0; i < captured.kinds; ++i) {
    kinds[i].captured.assign(sizes[i].begin(), sizes[i].end());
    for (const BlockGrowth& growth : captured.growth[i]) {
      uint64_t* const counts[] = {&kinds[i].constant, &kinds[i].proportional, &kinds[i].linear,
                                  &kinds[i].unsure};
      ++*counts[static_cast<size_t>(growth.rule)];
    }
  }
  return kinds;
}

// "how 31 of 40 blocks grow can't be told from the captures (graphs 0, 1, 2 and 4 more): …"
std::string UnsureText(const std::vector<EstimatedKind>& kinds) {
  constexpr size_t kShown = 5;
  uint64_t unsure = 0, blocks = 0;
  size_t graphs = 0;
  std::string named;
  for (const EstimatedKind& kind : kinds) {
    if (kind.unsure == 0) continue;
    unsure += kind.unsure;
    blocks += kind.blocks;
    if (graphs++ < kShown) named += (named.empty() ? "" : ", ") + std::to_string(kind.first.value);
  }
  if (graphs == 0) return {};
  if (graphs > kShown) named += " and " + FormatCount(graphs - kShown) + " more";
  return "how " + FormatCount(unsure) + " of " + FormatCount(blocks) +
         (blocks == 1 ? " block" : " blocks") + " grow can't be told from the captures (graph" +
         (graphs == 1 ? " " : "s ") + named +
         "): their interval reaches from a constant size to one in proportion; another captured "
         "size narrows it";
}

void AddNotes(const Ran& trace, const CapturedSizes& captured, MemoryEstimate* estimate) {
  if (captured.sizes_from == SizesFrom::kBlocks) {
    std::string sizes;
    for (const CapturedRound& round : captured.rounds)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(round.size);
    estimate->notes.push_back("the captured sizes " + sizes +
                              " are the smallest whole numbers with the ratio of the blocks; "
                              "--captured names others");
  }
  if (captured.given_up > 0) {
    estimate->notes.push_back("destroyed and made again, not counted: " +
                              Counted(captured.given_up, "capture"));
  }
  if (std::string unsure = UnsureText(estimate->kinds); !unsure.empty()) {
    estimate->notes.push_back(std::move(unsure));
  }
  const bool memory_nodes = std::ranges::any_of(
      trace.blocks, [](const Block& block) { return block.alloc_node.valid(); });
  if (memory_nodes)
    estimate->notes.push_back("memory of the graphs' own allocation nodes isn't estimated");
}

// Those that are there when the last of the captures ends.
std::map<std::string, Bytes> FindWorkspaces(const Ran& trace, const CapturedSizes& captured) {
  std::set<StreamId> streams;
  Seq end = 0;
  for (const CapturedGraph& graph : captured.graphs) {
    streams.insert(graph.stream);
    end = std::max(end, graph.end);
  }
  std::map<std::string, Bytes> workspaces;
  for (const Block& block : trace.blocks) {
    if (block.graph || block.allocated > end || block.free_requested < end) continue;
    if (!block.stream || !streams.contains(block.stream)) continue;
    const std::string_view name = LibraryMemory(trace, block.stack);
    if (!name.empty()) workspaces[std::string(name)] += RoundedSize(block);
  }
  return workspaces;
}

std::string RangeProblem(std::string_view part) {
  return "invalid size '" + std::string(part) + "'";
}

// "8", or "16-256:8" with any step.
bool AddPart(std::string_view part, std::set<uint64_t>* sizes) {
  const size_t dash = std::min(part.find('-'), part.size());
  const std::string_view range = part.substr(std::min(dash + 1, part.size()));
  const size_t colon = std::min(range.find(':'), range.size());
  const uint64_t first = ParseNumber<uint64_t>(part.substr(0, dash)).value_or(0);
  uint64_t last = first, step = 1;
  if (dash < part.size()) last = ParseNumber<uint64_t>(range.substr(0, colon)).value_or(0);
  if (colon < range.size()) step = ParseNumber<uint64_t>(range.substr(colon + 1)).value_or(0);
  if (first == 0 || last < first || last > kLargestSize || step == 0) return false;
  const uint64_t steps = (last - first) / step;
  if (steps >= kMostSizes) return false;
  for (uint64_t i = 0; i <= steps; ++i) sizes->insert(first + i * step);
  return true;
}

// Of candidates up to the smallest that holds the largest request, which is captured first.
Result<std::vector<SizeOption>> CostsOf(const Ran& trace, EstimateOptions options,
                                        const std::vector<SizeCount>& requests) {
  std::set<uint64_t> candidates(options.sizes.begin(), options.sizes.end());
  if (candidates.empty()) {
    for (const SizeCount& request : requests) candidates.insert(request.size);
  }
  const auto largest = candidates.lower_bound(requests.back().size);
  if (largest == candidates.end() || candidates.size() > kMostCandidates) {
    return Error{.message = std::to_string(candidates.size()) +
                            " candidates, and a request of size " +
                            std::to_string(requests.back().size),
                 .hint = "--sizes needs at most " + std::to_string(kMostCandidates) +
                         " sizes, one of them as large as the largest request"};
  }
  candidates.erase(std::next(largest), candidates.end());
  std::vector<SizeOption> costs;
  for (const uint64_t size : candidates) {
    options.sizes = {size, *candidates.rbegin()};
    if (size == *candidates.rbegin()) options.sizes.pop_back();
    const Result<MemoryEstimate> pair = EstimateMemory(trace, options);
    if (!pair) return pair.error();
    const EstimatedSize& last = pair->sizes.back();
    costs.push_back({size, last.pool_growth.bytes + last.execs.bytes});
  }
  return costs;
}

// Each request to the smallest size that holds it. The sizes descend.
void Assign(const std::vector<SizeCount>& requests, MemoryEstimate* estimate) {
  for (const SizeCount& request : requests) {
    const auto holds = [&](const EstimatedSize& size) { return size.size >= request.size; };
    EstimatedSize& size = *std::prev(std::ranges::partition_point(estimate->sizes, holds));
    size.launches += request.count;
    size.padding += (size.size - request.size) * request.count;
    estimate->requested += request.size * request.count;
  }
}

// Of requests larger than `above` that run in a size.
uint64_t PaddingOf(std::span<const SizeCount> requests, uint64_t above, uint64_t size) {
  uint64_t padding = 0;
  auto request = std::ranges::upper_bound(requests, above, {}, &SizeCount::size);
  for (; request != requests.end() && request->size <= size; ++request)
    padding += (size - request->size) * request->count;
  return padding;
}

// Fewest bytes first; of equal bytes the least padding alone.
std::pair<Bytes, uint64_t> CostOf(const LeastPadding& set) { return {set.bytes, set.padding}; }

// The sets for which no other has both fewer bytes and less padding; of these the least padding is
// the last.
void KeepFront(std::vector<LeastPadding>* sets) {
  std::ranges::stable_sort(*sets, {}, CostOf);
  uint64_t least = ~uint64_t{0};
  std::erase_if(*sets, [&](const LeastPadding& set) {
    const bool worse = set.padding >= least;
    least = std::min(least, set.padding);
    return worse;
  });
}

}  // namespace

Result<std::vector<uint64_t>> ParseSizes(std::string_view text) {
  std::set<uint64_t> sizes;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (!AddPart(part, &sizes) || sizes.size() > kMostSizes) {
      return Error{.message = RangeProblem(part),
                   .hint = "sizes are numbers from 1 to " + std::to_string(kLargestSize) +
                           " and ranges with a step, as in 1,2,4,8-64:8"};
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return std::vector<uint64_t>(sizes.begin(), sizes.end());
}

Result<MemoryEstimate> EstimateMemory(const Ran& trace, const EstimateOptions& options) {
  const std::vector<GraphId> roots = FindRoots(trace);
  const UnknownMemory unknown = FindUnknownMemory(trace, roots);
  if (!unknown.any.empty()) {
    return Error{.message = "memory is unknown: " + unknown.any,
                 .hint = "an estimate needs a trace with the allocations of its captures"};
  }
  const Result<CapturedSizes> captured = FindCapturedSizes(trace, roots, options.captured);
  if (!captured) return captured.error();
  MemoryEstimate estimate{
      .device = trace.process.device,
      .sizes_from = captured->sizes_from,
      .alloc_conf = FindSetting(trace.process, "PYTORCH_ALLOC_CONF").value_or(""),
      .kinds = KindsOf(trace, *captured)};
  std::vector<uint64_t> sizes = options.sizes;
  std::ranges::sort(sizes, std::ranges::greater());
  std::vector<ExpectedRound> rounds;
  for (const uint64_t size : sizes) rounds.push_back(Expect(*captured, size));
  if (const uint64_t size = BeyondMemory(rounds); size != 0) {
    return Error{.message = "size " + std::to_string(size) + " would need more than any memory",
                 .hint = "estimate sizes nearer to those that were captured"};
  }
  const ExecModel model =
      options.exec_model ? *options.exec_model : CalibratedExecModel(trace, roots);
  const std::vector<ExecPartCounts> parts = CountGraphParts(trace, roots);
  const PoolModel pools = {trace, *captured, ConfigFor(&estimate), ChooseSizes(*captured)};
  const std::vector<ByteRange> pool = GrowthOfOnePool(pools, rounds);
  const std::vector<HostTime> times = FindHostTimes(trace);
  for (size_t i = 0; i < rounds.size(); ++i) {
    const ByteRange before = i == 0 ? ByteRange() : pool[i - 1];
    EstimatedSize size = SizeOf(pools, rounds[i], pool[i], before);
    for (const uint32_t graph : rounds[i].like->graphs) {
      const size_t like = captured->graphs[graph].graph.index();
      size.execs += model.Of(parts[like]);
      if (estimate.device != DeviceKind::kSoft) size.capture_ns += times[like].total;
    }
    estimate.own_pools += size.own_pools;
    estimate.execs += size.execs;
    estimate.sizes.push_back(size);
  }
  if (!pool.empty()) estimate.shared_pool = pool.back();
  estimate.exec_source =
      model.measured_execs > 0 ? ExecSource::kCalibrated : ExecSource::kEstimated;
  estimate.workspaces = FindWorkspaces(trace, *captured);
  AddNotes(trace, *captured, &estimate);
  return estimate;
}

Result<MemoryEstimate> EstimateWithin(const Ran& trace, EstimateOptions options,
                                      const std::vector<SizeCount>& requests, Bytes budget) {
  const Result<std::vector<SizeOption>> costs = CostsOf(trace, options, requests);
  if (!costs) return costs.error();
  const auto chosen = FindLeastPadding(requests, *costs, budget);
  if (!chosen) {
    return Error{.message = "size " + std::to_string(costs->back().size) + " alone needs " +
                            FormatBytes(costs->back().bytes) + "; the budget is " +
                            FormatBytes(budget),
                 .hint = "raise --budget"};
  }
  options.sizes = chosen->sizes;
  Result<MemoryEstimate> estimate = EstimateMemory(trace, options);
  if (!estimate) return estimate;
  Assign(requests, &*estimate);
  estimate->budget = budget;
  estimate->candidates = costs->size();
  if (const Bytes high = estimate->shared_pool.high + estimate->execs.high; high > budget) {
    estimate->notes.push_back("the upper end, " + FormatBytes(high) +
                              ", is beyond the budget; --exec-costs, and captures of more "
                              "sizes, narrow it");
  }
  return estimate;
}

std::optional<LeastPadding> FindLeastPadding(std::span<const SizeCount> requests,
                                             std::span<const SizeOption> options, Bytes budget) {
  std::vector<std::vector<LeastPadding>> fronts;  // by option: sets that it is the largest of
  std::vector<LeastPadding> whole;                // that hold the largest request
  for (const SizeOption& option : options) {
    const uint64_t size = option.size;
    const Bytes bytes = option.bytes;
    std::vector<LeastPadding> front;
    const auto add = [&](LeastPadding set) {
      if (bytes > budget || set.bytes > budget - bytes) return;
      set.padding += PaddingOf(requests, set.sizes.empty() ? 0 : set.sizes.back(), size);
      set.bytes += bytes;
      set.sizes.push_back(size);
      front.push_back(std::move(set));
    };
    add({});
    for (const std::vector<LeastPadding>& before : fronts) {
      for (const LeastPadding& set : before) add(set);
    }
    KeepFront(&front);
    if (requests.empty() || size >= requests.back().size)
      whole.insert(whole.end(), front.begin(), front.end());
    fronts.push_back(std::move(front));
  }
  KeepFront(&whole);
  return whole.empty() ? std::nullopt : std::optional(whole.back());
}

}  // namespace graphkit
