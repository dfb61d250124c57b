// Makes traces of any size: for benchmarks, and to compare policies where results were published.
// The same options give the same trace on every platform.
//
// A synthetic program uses memory as PyTorch does: blocks come from segments of a
// private pool (20 MiB, or the block's own size when that is larger) and are reused on their own
// stream only, exact sizes first; a block that was used on another stream (record_stream) is freed
// for good when the capture ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// Sizes of blocks, in bytes.
struct SizeDistribution {
  enum class Kind : uint8_t {
    kFixed,    // always `min`
    kUniform,  // [min, max], in steps of 512
    kLog,      // [min, max], every doubling equally often
  };
  Kind kind = Kind::kFixed;
  Bytes min = Bytes{4} << 20;
  Bytes max = Bytes{4} << 20;
  bool operator==(const SizeDistribution&) const = default;
};

// "4MiB", "uniform:1MiB-8MiB", "log:512B-64MiB"; nothing when it isn't one of these.
std::optional<SizeDistribution> ParseSizeDistribution(std::string_view text);

enum class SynthShape : uint8_t {
  // Each op is a kernel on a random stream. With probability `join` that stream first waits for
  // another one. With probability `free` a random live block is freed first, otherwise with
  // probability `alloc` one is allocated and filled by a kernel of its own. The op's kernel uses a
  // random live block: on another stream than the block's it is recorded there, and it reads the
  // block if it is ordered after the fill. These are the five parameters of the sweep published in
  // pytorch/pytorch#158352; its figures are whole 20 MiB segments of 4 MiB blocks, and its node
  // counts are `ops` and one per allocation.
  kRandom,
  // Forward and backward passes over 24 layers on the first stream; the others reduce gradients. An
  // op is a kernel with an output block of its own; most live until their backward kernel.
  kTraining,
  // One stream a stage, 1F1B: activations and gradients go from stream to stream.
  kPipeline,
  // As many streams as there are branches. A branch is two kernels: one fills a block, the other
  // reads it into a second one; both blocks are freed. All branches are forked off the first stream
  // and joined by it, round after round;
  kForkJoin,
  // each is forked, runs and is joined before the next one begins;
  kOneByOne,
  // each begins after the one before, none is joined until the end.
  kRelay,
};

struct SynthOptions {
  SynthShape shape = SynthShape::kRandom;
  uint64_t ops = 1000;  // over all graphs
  uint32_t streams = 2;
  double join = 0.1;  // join, alloc, free: kRandom only
  double alloc = 0.1;
  double free = 0.1;
  SizeDistribution sizes;
  double programmatic = 0;  // of the kernels: launched programmatically
  uint32_t graphs = 1;
  uint64_t seed = 1;
};

Ran Synthesize(const SynthOptions& options);

}  // namespace graphkit
