#include "libgraphkit/generate/synth_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace graphkit {
namespace {

constexpr Bytes kSegmentSize = Bytes{20} << 20;  // PyTorch's kLargeBuffer
constexpr uint32_t kFunctions = 8;
constexpr std::array<Ternary, 3> kWaits = {Ternary::kYes, Ternary::kNo, Ternary::kUnknown};

}  // namespace

SynthProgram::SynthProgram(const SynthOptions& options)
    : options_(options), random_(options.seed), t_(DeviceKind::kImported) {
  t_.SetProgram("graphkit synth");
  const uint32_t count = std::max(options.streams, 1u);
  for (uint32_t i = 0; i < count; ++i) {
    streams_.push_back(t_.Stream("stream " + std::to_string(i)));
    events_.push_back(t_.Event());
  }
  for (uint32_t i = 0; i < kFunctions; ++i) {
    functions_.push_back(t_.Function("synthetic_" + std::to_string(i), kWaits[i % kWaits.size()]));
  }
}

void SynthProgram::BeginGraph(uint64_t kernels) {
  last_kernel_ = kernels_ + kernels;
  pool_ = t_.Pool(PoolKind::kPrivate, "graph " + std::to_string(t_.trace().graphs.size()));
  t_.SetPool(pool_);
  arenas_.assign(streams_.size(), {});
  free_.clear();
  if (options_.shape == SynthShape::kRandom) {
    clocks_.assign(streams_.size(), std::vector<uint64_t>(streams_.size(), 0));
  }
  t_.BeginCapture(streams_[0]);
  for (uint32_t i = 1; i < streams_.size(); ++i) Wait(i, 0);
}

void SynthProgram::EndGraph() {
  const GraphId graph = t_.trace().captures.back().graph;
  for (uint32_t i = 1; i < streams_.size(); ++i) Wait(0, i);
  t_.EndCapture(streams_[0]);
  for (const BlockId block : deferred_) t_.CompleteFree(block);
  deferred_.clear();
  t_.Launch(t_.Instantiate(graph), streams_[0]);
}

void SynthProgram::Kernel(uint32_t stream, std::span<const Access> accesses) {
  const KernelId function = functions_[random_.Below(kFunctions)];
  const bool programmatic = options_.programmatic > 0 && random_.Chance(options_.programmatic);
  if (programmatic) t_.ProgrammaticKernel(streams_[stream], function, accesses);
  if (!programmatic) t_.Kernel(streams_[stream], function, accesses);
  if (!clocks_.empty()) ++clocks_[stream][stream];
  ++kernels_;
}

void SynthProgram::Wait(uint32_t stream, uint32_t other) {
  t_.Record(events_[other], streams_[other]);
  t_.Wait(streams_[stream], events_[other]);
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
    arena.next.segment = t_.Segment(pool_, arena.left, streams_[stream]);
    arena.next.address = t_.trace()[arena.next.segment].address;
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
  return t_.AllocAt(streams_[stream], size, place.address, place.segment);
}

BlockId SynthProgram::Produce(uint32_t stream, std::initializer_list<BlockId> inputs) {
  const BlockId output = Alloc(stream);
  std::array<Access, 3> accesses = {Writes(output)};
  size_t count = 1;
  for (const BlockId input : inputs) {
    if (input) accesses[count++] = Reads(input);
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
  t_.RecordStream(id, streams_[stream]);
}

void SynthProgram::Free(BlockId id) {
  const SynthBlock& block = blocks_[id.index()];
  if (block.shared) {
    t_.RequestFree(id);
    deferred_.push_back(id);
  } else {
    t_.Free(id);
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
