// Memory of a graph's pool lent between launches: what, to whom, and until when.
#include <algorithm>
#include <thread>

#include "libgraphkit/random.h"
#include "tests/plugins/torch_allocator/soft_program.h"

namespace graphkit::torch {
namespace {

constexpr PoolKey kServed{1, 0};

Address At(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// A capture with an activation of 30 MiB, freed in it, and an output of 24 MiB.
struct Server {
  explicit Server(PlannedGraphs planned = {}) : made(MakeAllocator({}, std::move(planned))) {
    Recording recording(&allocator, kServed, streams[0]);
    activation = allocator.Malloc(30 * kMiB, streams.id(0));
    Touch(activation, streams[0]);
    output = allocator.Malloc(24 * kMiB, streams.id(0));
    Touch(output, streams[0]);
    allocator.Free(activation);
    recording.Stop();
  }
  bool InActivation(const void* pointer, Bytes size) const {
    return At(pointer) >= At(activation) && At(pointer) + size <= At(activation) + 30 * kMiB;
  }

  Made made;
  DeviceAllocator& allocator = Start(&made);
  const Streams streams = Streams(2);
  void* activation = nullptr;
  void* output = nullptr;
};

TEST_CASE("an activation's memory is lent to its borrower's stream and thread, and to no other") {
  Server s;
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 30 * kMiB);
  void* lent = s.allocator.Malloc(20 * kMiB, s.streams.id(0));
  CHECK(s.InActivation(lent, 20 * kMiB));
  void* more = s.allocator.Malloc(10 * kMiB - 100, s.streams.id(0));
  CHECK(s.InActivation(more, 10 * kMiB - 100));
  void* full = s.allocator.Malloc(1, s.streams.id(0));
  CHECK_FALSE(s.InActivation(full, 1));
  s.allocator.Free(lent);
  void* other_stream = s.allocator.Malloc(kMiB, s.streams.id(1));
  CHECK_FALSE(s.InActivation(other_stream, kMiB));
  void* other_thread = nullptr;
  std::thread([&] { other_thread = s.allocator.Malloc(kMiB, s.streams.id(0)); }).join();
  CHECK_FALSE(s.InActivation(other_thread, kMiB));
  void* again = s.allocator.Malloc(15 * kMiB, s.streams.id(0));
  CHECK(s.InActivation(again, 15 * kMiB));
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 0);  // lent already
  s.allocator.Free(again);
  s.allocator.Free(more);
  CHECK(s.allocator.Return(kServed).empty());
  CHECK_FALSE(s.InActivation(s.allocator.Malloc(kMiB, s.streams.id(0)), kMiB));
  CHECK(s.allocator.figures().borrowed == 3);
  CHECK(s.allocator.figures().peak_borrowed == 30 * kMiB);
}

TEST_CASE("a late return names its blocks, until they are freed") {
  Server s;
  REQUIRE(s.allocator.Borrow(kServed, s.streams.id(0)) > 0);
  void* kept = s.allocator.Malloc(3 * kMiB, s.streams.id(0));
  CHECK(s.allocator.Return(kServed) == std::vector<LentBlock>{{At(kept), 3 * kMiB}});
  CHECK_FALSE(s.InActivation(s.allocator.Malloc(kMiB, s.streams.id(0)), kMiB));  // it has ended
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 0);
  CHECK(s.allocator.Return(kServed).size() == 1);
  s.allocator.Free(kept);
  CHECK(s.allocator.Return(kServed).empty());
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 30 * kMiB);
}

TEST_CASE("outputs aren't lent, even when they are freed after their capture or in another one") {
  Server s;
  s.allocator.Free(s.output);
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 30 * kMiB);
  CHECK(s.allocator.Return(kServed).empty());

  Server t;
  {
    Recording recording(&t.allocator, kServed, t.streams[0]);
    void* inside = t.allocator.Malloc(8 * kMiB, t.streams.id(0));
    Touch(inside, t.streams[0]);
    t.allocator.Free(t.output);
    t.allocator.Free(inside);
    recording.Stop();
  }
  CHECK(t.allocator.Borrow(kServed, t.streams.id(0)) == 30 * kMiB);
}

TEST_CASE("nothing is lent while the pool is captured into, of an unknown pool, or twice") {
  Server s;
  CHECK(s.allocator.Borrow({7, 7}, s.streams.id(0)) == 0);
  CHECK(s.allocator.Return({7, 7}).empty());
  Recording recording(&s.allocator, kServed, s.streams[0]);
  void* inside = s.allocator.Malloc(kMiB, s.streams.id(0));
  Touch(inside, s.streams[0]);
  CHECK(s.allocator.Borrow(kServed, s.streams.id(1)) == 0);
  recording.Stop();
  CHECK(s.allocator.Borrow(kServed, s.streams.id(1)) > 0);
}

TEST_CASE("a pool that is released while it is lent goes back when the last block does") {
  Server s;
  s.allocator.Free(s.output);
  REQUIRE(s.allocator.Borrow(kServed, s.streams.id(0)) > 0);
  void* lent = s.allocator.Malloc(kMiB, s.streams.id(0));
  s.allocator.ReleasePool(kServed);
  CHECK(s.allocator.figures().reserved > 0);
  Touch(lent, s.streams[0]);
  s.allocator.Free(lent);
  CHECK(s.allocator.Return(kServed).empty());
  CHECK(s.allocator.figures().reserved == 0);
}

TEST_CASE("a lent block's memory waits for the streams it was recorded on") {
  Server s;
  REQUIRE(s.allocator.Borrow(kServed, s.streams.id(0)) == 30 * kMiB);
  void* lent = s.allocator.Malloc(30 * kMiB, s.streams.id(0));
  s.allocator.RecordStream(lent, s.streams.id(1));
  s.allocator.Free(lent);
  CHECK(s.allocator.Return(kServed).empty());  // the stream waits for the other one, not the host
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 30 * kMiB);
}

TEST_CASE("of a plan's arena is lent what the plan lends") {
  PlannedGraphs planned{.graphs = {{{.size = 54 * kMiB,
                                     .blocks = {{0, 30 * kMiB}, {30 * kMiB, 24 * kMiB}},
                                     .borrow = {{{0, 10 * kMiB}}}}}}};
  Server s(planned);
  REQUIRE(s.allocator.figures().planned == 2);
  CHECK(s.allocator.Borrow(kServed, s.streams.id(0)) == 10 * kMiB);
  CHECK(s.allocator.Malloc(10 * kMiB, s.streams.id(0)) == s.activation);

  planned.graphs[0][0].borrow.reset();  // a plan that doesn't say
  Server t(planned);
  CHECK(t.allocator.Borrow(kServed, t.streams.id(0)) == 30 * kMiB);
}

// Captures into one pool, with blocks freed in time, late, in a later capture, or never, and lent
// blocks between them.
class RandomServer {
 public:
  explicit RandomServer(uint64_t seed) : random_(seed) {}

  void Run() {
    for (int i = 0; i < 6; ++i) {
      Capture(i);
      if (random_.Below(2) == 0) FreeOne(-1);
      Lend();
    }
  }
  uint64_t served() const { return served_; }

 private:
  struct Made {
    Address begin = 0;
    Address end = 0;
    int capture = 0;
    int freed = kNever;  // in which capture; -1: outside
    static constexpr int kNever = 1000;
  };

  void FreeOne(int capture) {
    std::vector<Made*> live;
    for (Made& block : blocks_) {
      if (block.freed == Made::kNever) live.push_back(&block);
    }
    if (live.empty()) return;
    Made* block = live[random_.Below(live.size())];
    block->freed = capture;
    allocator_.Free(reinterpret_cast<void*>(static_cast<uintptr_t>(block->begin)));
  }

  void Capture(int number) {
    Recording recording(&allocator_, kServed, streams_[0]);
    for (int i = 0; i < 12; ++i) {
      const Bytes size = 512 * (1 + random_.Below(8000));
      void* block = allocator_.Malloc(size, streams_.id(0));
      Touch(block, streams_[0]);
      blocks_.push_back({At(block), At(block) + size, number});
      if (random_.Below(3) != 0) FreeOne(number);
    }
    recording.Stop();
  }

  // Block by block: who needs his bytes between launches.
  bool Needed(Address begin, Address end) const {
    return std::ranges::any_of(blocks_, [&](const Made& block) {
      return begin < block.end && block.begin < end && block.freed != block.capture;
    });
  }

  void Lend() {
    allocator_.Borrow(kServed, streams_.id(0));
    std::vector<std::pair<void*, Bytes>> lent;
    for (int i = 0; i < 20; ++i) {
      const Bytes size = 1 + random_.Below(1 << 20);
      bool from_pool = false;
      void* block = allocator_.Malloc(size, streams_.id(0), &from_pool);
      REQUIRE_FALSE(Needed(At(block), At(block) + size));
      for (const auto& [other, bytes] : lent) {
        REQUIRE((At(block) >= At(other) + bytes || At(other) >= At(block) + size));
      }
      served_ += from_pool ? 1 : 0;
      lent.emplace_back(block, size);
      if (random_.Below(3) == 0) {
        const size_t at = random_.Below(lent.size());
        allocator_.Free(lent[at].first);
        lent.erase(lent.begin() + static_cast<ptrdiff_t>(at));
      }
    }
    for (const auto& [block, size] : lent) allocator_.Free(block);
    REQUIRE(allocator_.Return(kServed).empty());
  }

  Random random_;
  graphkit::torch::Made made_ = MakeAllocator();
  DeviceAllocator& allocator_ = Start(&made_);
  const Streams streams_ = Streams(1);
  std::vector<Made> blocks_;
  uint64_t served_ = 0;
};

TEST_CASE("in random programs no lent block lies where a graph's block outlives its capture") {
  uint64_t served = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    RandomServer server(seed);
    server.Run();
    served += server.served();
  }
  CHECK(served > 5000);
}

}  // namespace
}  // namespace graphkit::torch
