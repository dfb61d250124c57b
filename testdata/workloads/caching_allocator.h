// A caching allocator with PyTorch's rules in miniature.
//
// Memory comes from the driver in segments and is handed out in blocks:
//   * sizes are rounded up to 512 B;
//   * up to 1 MiB: blocks of 2 MiB segments; below 10 MiB: of 20 MiB segments; else a segment of
//     their own, rounded up to 2 MiB;
//   * a request takes the smallest free block of its own stream that fits, and splits it when what
//     remains is worth it (512 B in small segments, over 1 MiB in the others);
//   * while a capture is under way, blocks come from a private pool, and one that was used on other
//     streams than its own isn't free before the capture has ended: its frees are deferred.
//
// Everything is announced (announce.h). One thread, one device.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "testdata/workloads/announce.h"
#include "testdata/workloads/cuda_check.h"

class CachingAllocator {
 public:
  CachingAllocator() = default;
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  float* Malloc(size_t size, cudaStream_t stream) {
    const size_t rounded = (size + 511) / 512 * 512;
    char* address = TakeFree(rounded, stream);
    if (address == nullptr) address = TakeFromNewSegment(rounded, stream);
    AnnounceBlock(SegmentOf(address).heap, address, size, stream);
    return reinterpret_cast<float*>(address);
  }

  // The block is used on `stream` as well.
  void RecordStream(const void* pointer, cudaStream_t stream) {
    Block& block = BlockAt(pointer);
    if (stream == block.stream) return;
    block.crossed_streams = true;
    graphkit_record_stream(pointer, block.size, stream);
  }

  void Free(const void* pointer) {
    Block& block = BlockAt(pointer);
    if (!block.crossed_streams) {
      Release(pointer);
    } else if (capturing_) {
      graphkit_free_requested(pointer, block.stream);
      deferred_.push_back(pointer);
    } else {  // where PyTorch would record events and look at them later
      CHECK(cudaDeviceSynchronize());
      Release(pointer);
    }
  }

  // From here to EndCapture blocks come from the pool called `pool`, made when it is first named.
  void BeginCapture(const std::string& pool) {
    pool_ = pool;
    capturing_ = true;
  }

  // To be called when the capture has ended: what was deferred is free.
  void EndCapture() {
    capturing_ = false;
    pool_ = kDefaultPool;
    for (const void* pointer : deferred_) Release(pointer);
    deferred_.clear();
  }

  // Gives all segments back to the driver. No block may be in use.
  void ReleaseSegments() {
    for (auto& [address, segment] : segments_) {
      AnnounceSegmentFreed(segment.heap);
      CHECK(cudaFree(address));
    }
    segments_.clear();
    blocks_.clear();
  }

  size_t reserved(const std::string& pool) const {
    size_t sum = 0;
    for (const auto& [address, segment] : segments_) sum += segment.pool == pool ? segment.size : 0;
    return sum;
  }

  static constexpr const char* kDefaultPool = "default";

 private:
  struct Segment {
    size_t size = 0;
    std::string pool;
    bool small = false;
    nvtxMemHeapHandle_t heap = nullptr;
  };
  struct Block {
    size_t size = 0;
    cudaStream_t stream = nullptr;
    bool in_use = false;
    bool crossed_streams = false;
  };
  using Blocks = std::map<char*, Block>;

  static bool IsSmall(size_t size) { return size <= kMiB; }

  static size_t SegmentSize(size_t size) {
    if (IsSmall(size)) return 2 * kMiB;
    if (size < 10 * kMiB) return 20 * kMiB;
    return (size + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
  }

  Segment& SegmentOf(char* address) { return std::prev(segments_.upper_bound(address))->second; }

  Block& BlockAt(const void* pointer) {
    return blocks_.at(static_cast<char*>(const_cast<void*>(pointer)));
  }

  // The best free block for a request, split where worth it; null: there is none.
  char* TakeFree(size_t size, cudaStream_t stream) {
    auto best = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
      const Block& block = it->second;
      const Segment& segment = SegmentOf(it->first);
      if (block.in_use || block.stream != stream || block.size < size) continue;
      if (segment.pool != pool_ || segment.small != IsSmall(size)) continue;
      if (best == blocks_.end() || block.size < best->second.size) best = it;
    }
    if (best == blocks_.end()) return nullptr;
    Take(best, size);
    return best->first;
  }

  char* TakeFromNewSegment(size_t size, cudaStream_t stream) {
    const size_t segment_size = SegmentSize(size);
    char* address = static_cast<char*>(DriverMalloc(segment_size));
    segments_[address] = {segment_size, pool_, IsSmall(size),
                          AnnounceSegment(address, segment_size, pool_.c_str())};
    const auto block = blocks_.insert({address, Block{segment_size, stream, false, false}}).first;
    Take(block, size);
    return address;
  }

  // cudaMalloc is forbidden to a thread that captures in global mode, unless it says that it knows.
  static void* DriverMalloc(size_t size) {
    void* address = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(cudaMalloc(&address, size));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    return address;
  }

  void Take(Blocks::iterator it, size_t size) {
    Block& block = it->second;
    const size_t rest = block.size - size;
    const bool split = SegmentOf(it->first).small ? rest >= 512 : rest > kMiB;
    if (split) {
      blocks_[it->first + size] = {rest, block.stream, false, false};
      block.size = size;
    }
    block.in_use = true;
  }

  // Makes a block free, and one with its free neighbours in the segment.
  void Release(const void* pointer) {
    AnnounceFreeCompleted(pointer);
    auto it = blocks_.find(static_cast<char*>(const_cast<void*>(pointer)));
    it->second.in_use = it->second.crossed_streams = false;
    const auto next = std::next(it);
    if (next != blocks_.end() && Mergeable(it, next)) Merge(it, next);
    if (it == blocks_.begin()) return;
    const auto previous = std::prev(it);
    if (Mergeable(previous, it)) Merge(previous, it);
  }

  bool Mergeable(Blocks::iterator first, Blocks::iterator second) {
    return !first->second.in_use && !second->second.in_use &&
           &SegmentOf(first->first) == &SegmentOf(second->first);
  }

  void Merge(Blocks::iterator first, Blocks::iterator second) {
    first->second.size += second->second.size;
    blocks_.erase(second);
  }

  std::map<char*, Segment> segments_;  // by address
  Blocks blocks_;                      // by address; they fill the segments
  std::vector<const void*> deferred_;  // freed, and waiting for the end of the capture
  std::string pool_ = kDefaultPool;
  bool capturing_ = false;
};
