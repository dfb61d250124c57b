// Captures: memory that is reused inside of them, and never too early.
#include <algorithm>

#include "libgraphkit/random.h"
#include "tests/plugins/torch_allocator/soft_program.h"

namespace graphkit::torch {
namespace {

constexpr PoolKey kPool{1, 0};

struct Program {
  explicit Program(size_t count) : streams(count) {}
  Recording Record() { return Recording(&allocator, kPool, streams[0]); }
  void* Malloc(size_t stream, Bytes size = 4 * kMiB) {
    return allocator.Malloc(size, streams.id(stream));
  }
  void* MallocAndTouch(size_t stream) {
    void* block = Malloc(stream);
    Touch(block, streams[stream]);
    return block;
  }
  // Stream 1 waits for stream 0 and uses its block, as record_stream tells the allocator.
  void UseElsewhere(void* block) {
    Join(streams[1], streams[0]);
    allocator.RecordStream(block, streams.id(1));
    Touch(block, streams[1]);
  }

  Made made = MakeAllocator();
  DeviceAllocator& allocator = Start(&made);
  const Streams streams;
};

TEST_CASE("a stream's own free is reusable by its next malloc, in a capture too") {
  Program p(1);
  Recording recording = p.Record();
  void* first = p.MallocAndTouch(0);
  p.allocator.Free(first);
  CHECK(p.Malloc(0) == first);
  recording.Stop();
  CHECK(p.allocator.figures().proved_frees == 1);
  CHECK(p.allocator.figures().deferred_frees == 0);
}

TEST_CASE("a block recorded on another stream is reusable once that stream is joined") {
  Program p(2);
  Recording recording = p.Record();
  void* first = p.MallocAndTouch(0);
  p.UseElsewhere(first);
  p.allocator.Free(first);
  CHECK(p.Malloc(0) != first);  // the other one may still run
  Join(p.streams[0], p.streams[1]);
  CHECK(p.Malloc(0) == first);
  recording.Stop();
  CHECK(p.allocator.figures().proved_frees == 1);
}

TEST_CASE("memory goes to another stream as soon as that is ordered after the free") {
  Program p(2);
  Recording recording = p.Record();
  void* before = p.Malloc(0, 64);
  Touch(before, p.streams[0]);
  Join(p.streams[1], p.streams[0]);
  void* first = p.MallocAndTouch(0);
  p.allocator.Free(first);
  CHECK(p.Malloc(1) != first);
  Join(p.streams[1], p.streams[0]);
  CHECK(p.Malloc(1) == first);
  Touch(before, p.streams[1]);
  Join(p.streams[0], p.streams[1]);
  recording.Stop();
}

TEST_CASE("what no order proves waits for the capture's end, and serves the pool's next capture") {
  Program p(2);
  void* first = nullptr;
  {
    Recording recording = p.Record();
    first = p.MallocAndTouch(0);
    p.UseElsewhere(first);
    p.allocator.Free(first);
    Join(p.streams[0], p.streams[1]);  // too late for any malloc
    recording.Stop();
  }
  CHECK(p.allocator.figures().deferred_frees == 1);
  CHECK(p.allocator.figures().deferred_bytes == 4 * kMiB);
  Recording recording = p.Record();
  CHECK(p.Malloc(0) == first);
  recording.Stop();
}

TEST_CASE("a stream that isn't captured when the block is freed defers it to the end") {
  Program p(2);
  Recording recording = p.Record();
  void* first = p.MallocAndTouch(0);
  p.allocator.RecordStream(first, p.streams.id(1));
  p.allocator.Free(first);
  CHECK(p.Malloc(0) != first);
  recording.Stop();
  CHECK(p.allocator.figures().deferred_frees == 1);
}

TEST_CASE("what a graph uses isn't handed out outside of captures, and goes back when released") {
  Program p(1);
  Recording recording = p.Record();
  void* inside = p.Malloc(0, 30 * kMiB);
  void* output = p.Malloc(0, 30 * kMiB);
  Touch(inside, p.streams[0]);
  p.allocator.Free(inside);
  recording.Stop();
  void* outside = p.Malloc(0, 30 * kMiB);
  CHECK(outside != inside);
  p.allocator.Free(outside);
  p.allocator.EmptyCache();
  CHECK(p.allocator.figures().reserved == 60 * kMiB);
  p.allocator.ReleasePool(kPool);
  CHECK(p.allocator.figures().reserved == 60 * kMiB);  // the output lives
  p.allocator.Free(output);
  CHECK(p.allocator.figures().reserved == 0);
}

TEST_CASE("a capture that no pool was begun for has memory of its own") {
  Program p(1);
  REQUIRE(cudaStreamBeginCapture(p.streams[0], cudaStreamCaptureModeRelaxed) == cudaSuccess);
  void* inside = p.MallocAndTouch(0);
  p.allocator.Free(inside);
  CHECK(p.Malloc(0) == inside);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(p.streams[0], &graph) == cudaSuccess);
  CHECK(p.Malloc(0) != inside);
}

// A random capture of several streams. Afterwards the graph itself is asked, by plain search,
// whether each block that lies where another one lay comes after all that used it.
class RandomCapture {
 public:
  RandomCapture(DeviceAllocator* allocator, uint64_t seed)
      : allocator_(allocator), random_(seed), streams_(4) {}

  void Run(int steps) {
    Recording recording(allocator_, kPool, streams_[0]);
    Use(Make(0), 0);
    for (size_t s = 1; s < 4; ++s) Join(streams_[s], streams_[0]);
    for (int i = 0; i < steps; ++i) Step();
    for (size_t s = 1; s < 4; ++s) Join(streams_[0], streams_[s]);
    graph_ = recording.Stop();
  }
  size_t CheckOrder() {
    ReadEdges();
    size_t shared = 0;
    for (size_t y = 0; y < blocks_.size(); ++y) {
      for (size_t x = 0; x < y; ++x) shared += CheckPair(blocks_[x], blocks_[y]) ? 1 : 0;
    }
    return shared;
  }

 private:
  struct Used {
    uint64_t address = 0;
    uint64_t size = 0;
    size_t stream = 0;
    std::vector<size_t> streams = {};  // recorded
    std::vector<cudaGraphNode_t> nodes = {};
    bool live = true;
  };

  size_t Make(size_t stream) {
    const uint64_t size = 512 * (1 + random_.Below(6000));
    void* block = allocator_->Malloc(size, streams_.id(stream));
    REQUIRE(block != nullptr);
    blocks_.push_back({reinterpret_cast<uintptr_t>(block), size, stream});
    return blocks_.size() - 1;
  }
  void* Pointer(size_t block) const {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(blocks_[block].address));
  }
  void Use(size_t block, size_t stream) {
    Touch(Pointer(block), streams_[stream]);
    const StreamCapture now = CudaDriver::Get()->CaptureOf(streams_.id(stream), true);
    REQUIRE(now.frontier.size() == 1);
    blocks_[block].nodes.push_back(
        reinterpret_cast<cudaGraphNode_t>(static_cast<uintptr_t>(now.frontier[0].node)));
  }
  void Step() {
    const size_t stream = random_.Below(4);
    std::vector<size_t> live;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].live) live.push_back(i);
    }
    const uint64_t what = random_.Below(10);
    if (what < 3 || live.empty()) {
      Use(Make(stream), stream);
    } else if (what < 5) {
      const size_t other = random_.Below(4);
      if (other != stream) Join(streams_[stream], streams_[other]);
    } else if (what < 7) {
      UseElsewhere(live[random_.Below(live.size())], stream);
    } else {
      const size_t block = live[random_.Below(live.size())];
      blocks_[block].live = false;
      allocator_->Free(Pointer(block));
    }
  }
  // After its own stream, which is what record_stream is for.
  void UseElsewhere(size_t block, size_t stream) {
    Used& used = blocks_[block];
    if (stream != used.stream) {
      Join(streams_[stream], streams_[used.stream]);
      allocator_->RecordStream(Pointer(block), streams_.id(stream));
    }
    Use(block, stream);
  }

  void ReadEdges() {
    size_t count = 0;
    REQUIRE(cudaGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count) == cudaSuccess);
    std::vector<cudaGraphNode_t> from(count);
    std::vector<cudaGraphNode_t> to(count);
    std::vector<cudaGraphEdgeData> data(count);
    REQUIRE(cudaGraphGetEdges(graph_, from.data(), to.data(), data.data(), &count) == cudaSuccess);
    for (size_t i = 0; i < count; ++i) into_[to[i]].push_back(from[i]);
  }
  const std::set<cudaGraphNode_t>& Before(cudaGraphNode_t node) {
    const auto [at, first] = before_.try_emplace(node);
    if (!first) return at->second;
    std::vector<cudaGraphNode_t> open{node};
    while (!open.empty()) {
      const cudaGraphNode_t next = open.back();
      open.pop_back();
      for (const cudaGraphNode_t from : into_[next]) {
        if (at->second.insert(from).second) open.push_back(from);
      }
    }
    return at->second;
  }
  bool CheckPair(const Used& x, const Used& y) {
    if (x.address + x.size <= y.address || y.address + y.size <= x.address) return false;
    for (const cudaGraphNode_t later : y.nodes) {
      for (const cudaGraphNode_t earlier : x.nodes) REQUIRE(Before(later).contains(earlier));
    }
    return true;
  }

  DeviceAllocator* allocator_;
  Random random_;
  Streams streams_;
  std::vector<Used> blocks_;
  cudaGraph_t graph_ = nullptr;
  std::map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> into_;
  std::map<cudaGraphNode_t, std::set<cudaGraphNode_t>> before_;
};

TEST_CASE("in random captures no block lies where another one may still be used") {
  size_t shared = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    Made made = MakeAllocator();
    DeviceAllocator& allocator = Start(&made);
    RandomCapture capture(&allocator, seed);
    capture.Run(250);
    shared += capture.CheckOrder();
  }
  CHECK(shared > 1000);
}

}  // namespace
}  // namespace graphkit::torch
