// The common part of synthetic traces' shapes: streams, kernels, and a caching allocator.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/generate/build_trace.h"
#include "libgraphkit/generate/synth.h"
#include "libgraphkit/random.h"

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
  uint32_t stream_count() const { return static_cast<uint32_t>(streams_.size()); }
  bool done() const { return kernels_ >= last_kernel_; }  // with the graph's kernels
  Random& random() { return random_; }
  Trace Build() { return t_.Build(); }

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

  Bytes PickSize();
  Place PickPlace(uint32_t stream, Bytes size);

  SynthOptions options_;
  Random random_;
  TraceBuilder t_;
  std::vector<StreamId> streams_;
  std::vector<EventId> events_;
  std::vector<KernelId> functions_;
  uint64_t kernels_ = 0;
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
