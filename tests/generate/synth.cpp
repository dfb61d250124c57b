#include "tests/generate/synth.h"

#include "libgraphkit/ran/resolve.h"
#include "tests/generate/synth_program.h"

namespace graphkit {
namespace {

// The live blocks of a random program.
class LiveBlocks {
 public:
  bool empty() const { return blocks_.empty(); }
  void Add(BlockId block) { blocks_.push_back(block); }
  BlockId Pick(Random& random) const { return blocks_[random.Below(blocks_.size())]; }
  BlockId Remove(Random& random) {
    const uint64_t index = random.Below(blocks_.size());
    std::swap(blocks_[index], blocks_.back());
    const BlockId block = blocks_.back();
    blocks_.pop_back();
    return block;
  }

 private:
  std::vector<BlockId> blocks_;
};

void AllocFilled(SynthProgram& program, uint32_t stream, LiveBlocks& live) {
  const BlockId block = program.Alloc(stream);
  program.Kernel(stream, std::array{Access{block, AccessMode::kWrite}});
  program.MarkFilled(block);
  live.Add(block);
}

void UseOne(SynthProgram& program, uint32_t stream, const LiveBlocks& live) {
  if (live.empty()) return program.Kernel(stream, {});
  const BlockId block = live.Pick(program.random());
  program.Use(block, stream);
  if (program.SeesFill(stream, block))
    return program.Kernel(stream, std::array{Access{block, AccessMode::kRead}});
  program.Kernel(stream, {});
}

void SynthesizeRandom(SynthProgram& program) {
  const SynthOptions& options = program.options();
  Random& random = program.random();
  const uint32_t streams = program.stream_count();
  LiveBlocks live;
  for (uint64_t op = 0; op < program.graph_ops(); ++op) {
    const auto stream = static_cast<uint32_t>(random.Below(streams));
    if (streams > 1 && random.Chance(options.join)) {
      const auto step = static_cast<uint32_t>(random.Below(streams - 1)) + 1;
      program.Wait(stream, (stream + step) % streams);
    }
    if (random.Chance(options.free)) {
      if (!live.empty()) program.Free(live.Remove(random));
    } else if (random.Chance(options.alloc)) {
      AllocFilled(program, stream, live);
    }
    UseOne(program, stream, live);
  }
}

// By SynthShape.
constexpr void (*kShapes[])(SynthProgram&) = {
    SynthesizeRandom,   SynthesizeTraining, SynthesizePipeline,
    SynthesizeForkJoin, SynthesizeOneByOne, SynthesizeRelay,
};

}  // namespace

std::optional<SizeDistribution> ParseSizeDistribution(std::string_view text) {
  SizeDistribution sizes;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const std::optional<Bytes> size = ParseBytes(text);
    if (!size || *size == 0) return {};
    sizes.min = sizes.max = *size;
    return sizes;
  }
  const std::string_view kind = text.substr(0, colon);
  if (kind != "uniform" && kind != "log") return {};
  sizes.kind = kind == "log" ? SizeDistribution::Kind::kLog : SizeDistribution::Kind::kUniform;
  const std::string_view range = text.substr(colon + 1);
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos) return {};
  const std::optional<Bytes> min = ParseBytes(range.substr(0, dash));
  const std::optional<Bytes> max = ParseBytes(range.substr(dash + 1));
  if (!min || !max || *min == 0 || *max < *min) return {};
  sizes.min = *min;
  sizes.max = *max;
  return sizes;
}

Ran Synthesize(const SynthOptions& options) {
  SynthProgram program(options);
  const uint64_t graphs = std::max(options.graphs, 1u);
  for (uint64_t graph = 0; graph < graphs; ++graph) {
    const uint64_t ops = options.ops * (graph + 1) / graphs - options.ops * graph / graphs;
    program.BeginGraph(ops);
    kShapes[static_cast<size_t>(options.shape)](program);
    program.EndGraph();
  }
  return Resolve(program.Take());
}

}  // namespace graphkit
