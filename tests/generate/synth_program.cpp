#include "tests/generate/synth_program.h"

#include <bit>

namespace graphkit {
namespace {

constexpr Bytes kSegmentSize = Bytes{20} << 20;  // PyTorch's kLargeBuffer
constexpr uint32_t kFunctions = 8;
constexpr std::array<Ternary, 3> kWaits = {Ternary::kYes, Ternary::kNo, Ternary::kUnknown};

}  // namespace

SynthProgram::SynthProgram(const SynthOptions& options)
    : options_(options), random_(options.seed), fronts_(std::max(options.streams, 1u)) {
  trace_.process.device = DeviceKind::kImported;
  trace_.process.seq = Next();
  trace_.process.program = "graphkit-synth";
  trace_.shapes.emplace_back();
  for (uint64_t i = 0; i < fronts_.size(); ++i) {
    const StringId name = trace_.strings.Intern("stream " + std::to_string(i));
    trace_.streams.push_back({.handle = 0x1000 + 0x10 * i, .created = Next(), .name = name});
    trace_.events.push_back({.handle = 0x100000 + 0x10 * i, .created = Next()});
  }
  for (uint32_t i = 0; i < kFunctions; ++i) {
    const StringId name = trace_.strings.Intern("synthetic_" + std::to_string(i));
    trace_.kernels.push_back({.name = name, .waits = kWaits[i % kWaits.size()], .created = Next()});
  }
}

void SynthProgram::BeginGraph(uint64_t kernels) {
  graph_ops_ = kernels;
  last_kernel_ = kernels_ + kernels;
  const uint64_t graph = trace_.graphs.size();
  pool_ = PoolId(trace_.pools.size());
  const StringId name = trace_.strings.Intern("graph " + std::to_string(graph));
  trace_.pools.push_back({.kind = PoolKind::kPrivate, .name = name, .created = Next()});
  arenas_.assign(fronts_.size(), {});
  free_.clear();
  if (options_.shape == SynthShape::kRandom) {
    clocks_.assign(fronts_.size(), std::vector<uint64_t>(fronts_.size(), 0));
  }
  if (trace_.threads.empty()) trace_.threads.push_back({.tid = 1, .created = Next()});
  trace_.graphs.push_back(
      {.origin = GraphOrigin::kCapture, .created = Next(), .handle = 0x200000 + 0x10 * graph});
  trace_.captures.push_back({.graph = GraphId(static_cast<uint32_t>(graph)),
                             .origin = IdOf(0),
                             .thread = ThreadId(0u),
                             .begin = Next()});
  for (uint32_t i = 1; i < fronts_.size(); ++i) Wait(i, 0);
}

void SynthProgram::EndGraph() {
  for (uint32_t i = 1; i < fronts_.size(); ++i) Wait(0, i);
  Capture& capture = trace_.captures.back();
  capture.status = CaptureStatus::kCompleted;
  capture.end = Next();
  fronts_.assign(fronts_.size(), {});
  wide_ = {};
  for (const BlockId id : deferred_) {
    trace_.blocks.Change(id.index(), [&](Block& block) { block.free_completed = Next(); });
  }
  deferred_.clear();
  const ExecId exec(trace_.execs.size());
  trace_.execs.push_back({.graph = capture.graph,
                          .handle = 0x300000 + 0x10 * uint64_t{exec.value},
                          .created = Next()});
  trace_.launches.push_back({exec, IdOf(0), Next()});
}

// With an edge from each node of the stream's frontier, which it becomes.
void SynthProgram::Kernel(uint32_t stream, std::span<const Access> accesses) {
  const KernelId function(static_cast<uint32_t>(random_.Below(kFunctions)));
  const bool programmatic = options_.programmatic > 0 && random_.Chance(options_.programmatic);
  const NodeId node(trace_.nodes.size());
  trace_.nodes.push_back(
      {.graph = trace_.captures.back().graph,
       .stream = IdOf(stream),
       .thread = ThreadId(0u),
       .seq = Next(),
       .kind = NodeKind::kKernel,
       .kernel = function,
       .shape = 0,
       .accesses = accesses.empty() ? Slice{} : trace_.accesses.Append(accesses)});
  for (const FrontierEntry& entry : fronts_[stream]) {
    trace_.edges.push_back({.from = entry.node,
                            .to = node,
                            .from_port = programmatic ? kPortProgrammatic : kPortDefault,
                            .type = programmatic ? EdgeType::kProgrammatic : EdgeType::kDefault,
                            .seq = Next()});
  }
  wide_.Forget(stream, fronts_[stream]);
  fronts_[stream] = {{.node = node}};
  if (!clocks_.empty()) ++clocks_[stream][stream];
  ++kernels_;
}

void SynthProgram::AddEventOp(StreamOpKind kind, uint32_t stream, uint32_t event) {
  trace_.stream_ops.push_back({.seq = Next(),
                               .kind = kind,
                               .capturing = true,
                               .stream = IdOf(stream),
                               .event = EventId(event)});
}

void SynthProgram::Wait(uint32_t stream, uint32_t other) {
  AddEventOp(StreamOpKind::kEventRecord, other, other);
  wide_.Add(stream, fronts_[other], &fronts_[stream]);
  AddEventOp(StreamOpKind::kEventWait, stream, other);
  for (size_t i = 0; i < clocks_.size(); ++i) {
    clocks_[stream][i] = std::max(clocks_[stream][i], clocks_[other][i]);
  }
}

Bytes SynthProgram::PickSize() {
  const SizeDistribution& sizes = options_.sizes;
  if (sizes.kind == SizeDistribution::Kind::kFixed || sizes.max <= sizes.min) return sizes.min;
  if (sizes.kind == SizeDistribution::Kind::kUniform) {
    const Bytes steps = (sizes.max - sizes.min) / kBlockGranularity + 1;
    return sizes.min + random_.Below(std::min(steps, Bytes{1} << 32)) * kBlockGranularity;
  }
  const auto doublings = static_cast<uint64_t>(std::bit_width(sizes.max / sizes.min));
  const Bytes low = sizes.min << random_.Below(doublings);
  return std::min(sizes.max, low + random_.Below(std::min(low, Bytes{1} << 32)));
}

SegmentId SynthProgram::AddSegment(Bytes size, uint32_t stream) {
  trace_.segments.push_back({.address = next_address_,
                             .size = size,
                             .pool = pool_,
                             .stream = IdOf(stream),
                             .allocated = Next()});
  next_address_ += RoundUp(size, kBlockGranularity);
  return SegmentId(trace_.segments.size() - 1);
}

SynthProgram::Place SynthProgram::PickPlace(uint32_t stream, Bytes size) {
  std::vector<Place>& reusable = free_[{stream, size}];
  if (!reusable.empty()) {
    const Place place = reusable.back();
    reusable.pop_back();
    return place;
  }
  Arena& arena = arenas_[stream];
  if (arena.left < size) {
    arena.left = std::max(kSegmentSize, size);
    arena.next.segment = AddSegment(arena.left, stream);
    arena.next.address = trace_[arena.next.segment].address;
  }
  const Place place = arena.next;
  arena.next.address += size;
  arena.left -= size;
  return place;
}

BlockId SynthProgram::Alloc(uint32_t stream) {
  const Bytes size = PickSize();
  const Bytes rounded = RoundUp(std::max<Bytes>(size, 1), kBlockGranularity);
  const Place place = PickPlace(stream, rounded);
  blocks_.push_back({.place = place, .size = rounded, .stream = stream, .last_recorded = stream});
  trace_.blocks.push_back({.address = place.address,
                           .size = size,
                           .pool = pool_,
                           .segment = place.segment,
                           .stream = IdOf(stream),
                           .graph = trace_.captures.back().graph,
                           .allocated = Next()});
  return BlockId(trace_.blocks.size() - 1);
}

BlockId SynthProgram::Produce(uint32_t stream, std::initializer_list<BlockId> inputs) {
  const BlockId output = Alloc(stream);
  std::array<Access, 3> accesses = {Access{output, AccessMode::kWrite}};
  size_t count = 1;
  for (const BlockId input : inputs) {
    if (input) accesses[count++] = Access{input, AccessMode::kRead};
  }
  Kernel(stream, std::span(accesses).first(count));
  return output;
}

void SynthProgram::Use(BlockId id, uint32_t stream) {
  SynthBlock& block = blocks_[id.index()];
  if (stream == block.stream) return;
  block.shared = true;
  if (stream == block.last_recorded) return;
  block.last_recorded = stream;
  trace_.block_streams.push_back({id, IdOf(stream), Next()});
}

void SynthProgram::Free(BlockId id) {
  const SynthBlock& block = blocks_[id.index()];
  trace_.blocks.Change(id.index(), [&](Block& freed) {
    freed.free_stream = freed.stream;
    freed.free_requested = Next();
    if (!block.shared) freed.free_completed = freed.free_requested;
  });
  if (block.shared) {
    deferred_.push_back(id);
  } else {
    free_[{block.stream, block.size}].push_back(block.place);
  }
}

bool SynthProgram::SeesFill(uint32_t stream, BlockId id) const {
  const SynthBlock& block = blocks_[id.index()];
  return clocks_[stream][block.stream] >= block.filled;
}

void SynthProgram::MarkFilled(BlockId id) {
  SynthBlock& block = blocks_[id.index()];
  block.filled = clocks_[block.stream][block.stream];
}

}  // namespace graphkit
