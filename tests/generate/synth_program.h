// The common part of synthetic traces' shapes: streams, kernels, a caching allocator, and the
// records that a tracer would write of them.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/model/wide_frontiers.h"
#include "libgraphkit/random.h"
#include "tests/generate/synth.h"

namespace graphkit {

class SynthProgram {
 public:
  explicit SynthProgram(const SynthOptions& options);

  void BeginGraph(uint64_t kernels);  // of so many; all streams capture
  void EndGraph();                    // joins them, instantiates the graph and launches it

  void Kernel(uint32_t stream, std::span<const Access> accesses);
  void Wait(uint32_t stream, uint32_t other);  // for what `other` has done so far
  BlockId Alloc(uint32_t stream);
  // A kernel that reads up to two blocks (those that aren't none) into a block of its own.
  BlockId Produce(uint32_t stream, std::initializer_list<BlockId> inputs);
  void Use(BlockId block, uint32_t stream);  // records it, unless it is the block's own stream
  void Free(BlockId block);

  // True when a kernel captured on `stream` next comes after what the block's stream had captured
  // right after the block was filled.
  bool SeesFill(uint32_t stream, BlockId block) const;
  void MarkFilled(BlockId block);

  uint32_t StreamOf(BlockId block) const { return blocks_[block.index()].stream; }
  const SynthOptions& options() const { return options_; }
  uint64_t graph_ops() const { return graph_ops_; }  // as BeginGraph was told
  uint32_t stream_count() const { return static_cast<uint32_t>(fronts_.size()); }
  bool done() const { return kernels_ >= last_kernel_; }  // with the graph's kernels
  Random& random() { return random_; }
  Trace Take() { return std::move(trace_); }

 private:
  struct Place {
    Address address = 0;
    SegmentId segment;
  };
  struct SynthBlock {
    Place place;
    Bytes size = 0;  // rounded
    uint32_t stream = 0;
    bool shared = false;  // used on another stream
    uint32_t last_recorded = 0;
    uint64_t filled = kNever;  // how many kernels its stream had captured then
  };
  // The rest of a stream's current segment, from which blocks are cut.
  struct Arena {
    Place next;
    Bytes left = 0;
  };

  // A stream's place in the capture: it comes after these nodes.
  using Frontier = std::vector<FrontierEntry>;

  Seq Next() { return trace_.records++; }
  StreamId IdOf(uint32_t stream) const { return StreamId(stream); }
  void AddEventOp(StreamOpKind kind, uint32_t stream, uint32_t event);
  SegmentId AddSegment(Bytes size, uint32_t stream);
  Bytes PickSize();
  Place PickPlace(uint32_t stream, Bytes size);

  SynthOptions options_;
  Random random_;
  Trace trace_;
  Address next_address_ = 0x7f0000000000;
  std::vector<Frontier> fronts_;  // by stream
  WideFrontiers wide_;
  uint64_t kernels_ = 0;
  uint64_t graph_ops_ = 0;
  uint64_t last_kernel_ = 0;
  PoolId pool_;
  std::vector<SynthBlock> blocks_;
  std::vector<BlockId> deferred_;
  std::vector<Arena> arenas_;                                      // by stream
  std::map<std::pair<uint32_t, Bytes>, std::vector<Place>> free_;  // by stream and size
  // Kernels of each stream that a stream comes after; kRandom only.
  std::vector<std::vector<uint64_t>> clocks_;
};

void SynthesizeTraining(SynthProgram& program);
void SynthesizePipeline(SynthProgram& program);
void SynthesizeForkJoin(SynthProgram& program);
void SynthesizeOneByOne(SynthProgram& program);
void SynthesizeRelay(SynthProgram& program);

}  // namespace graphkit
