#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "libgraphkit/compare/diff.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr Bytes kLayoutMiB = Bytes{1} << 20;

// A server: weights, a workspace that is made at its first use, warm-ups, and captures of two
// sizes, as an allocator places them that never reuses memory.
struct Server {
  uint32_t warm_ups = 2;
  bool workspace_in_capture = false;
  bool empty_cache = false;
  bool small_first = false;
  Bytes weights = 8 * kLayoutMiB;
  bool collected = false;  // the first weights were freed before the captures

  Ran Run() {
    pool_ = t_.Pool(PoolKind::kAllocator, "PyTorch");
    stream_ = t_.Stream();
    const SegmentId cached = t_.Segment(pool_, 2 * kLayoutMiB, stream_);
    next_ = t_.trace()[cached].address + 2 * kLayoutMiB;
    const BlockId first = Alloc(10, weights);
    Alloc(11, kLayoutMiB);
    if (collected) t_.Free(first, stream_);
    if (!workspace_in_capture) Alloc(20, 4 * kLayoutMiB);
    for (uint32_t i = 0; i < warm_ups; ++i) Alloc(30, 8192);
    if (empty_cache) t_.FreeSegment(cached);
    if (empty_cache || collected) next_ += 2 * kLayoutMiB;  // as the driver places what comes next
    for (const Bytes size :
         small_first ? std::vector<Bytes>{4096, 8192} : std::vector<Bytes>{8192, 4096}) {
      t_.BeginCapture(stream_, "size " + std::to_string(size));
      if (workspace_in_capture && size == 8192) Alloc(20, 4 * kLayoutMiB);
      t_.Kernel(stream_, "k", {Writes(Alloc(30, size))});
      t_.Host(stream_);
      t_.EndCapture(stream_);
    }
    return t_.Build();
  }

  BlockId Alloc(uint32_t line, Bytes size) {
    t_.SetStack(t_.Stack({{"step", "/app/serve.py", line}}));
    t_.SetPool(pool_);
    next_ += size;
    return t_.AllocAt(stream_, size, next_ - size);
  }

  TraceBuilder t_ = TraceBuilder();
  PoolId pool_ = {};
  StreamId stream_ = {};
  Address next_ = 0;
};

// The cause, and the line that the message names.
std::string Cause(Server first, Server second, const std::string& line) {
  const std::vector<FindingChange> found = FindLayoutDiff(first.Run(), second.Run());
  REQUIRE(found.size() == 3);
  CAPTURE(found[0].message);
  CHECK(found[0].message.find("serve.py:" + line) != std::string::npos);
  CHECK(found[1].check == "layout-moved");
  CHECK(found[2].check == "layout-immovable");
  CHECK(found[2].count_before == 2);  // the host functions
  return found[0].check;
}

TEST_CASE("equal runs have nothing") {
  CHECK(FindLayoutDiff(Server{}.Run(), Server{}.Run()).empty());
  CHECK(FindLayoutDiff(Server{.warm_ups = 0}.Run(), Server{.warm_ups = 0}.Run()).empty());
}

TEST_CASE("the cause is the call that only one run made") {
  CHECK(Cause({}, {.empty_cache = true}, "30") == "layout-release");
  CHECK(Cause({.empty_cache = true}, {}, "30") == "layout-release");
  CHECK(Cause({}, {.warm_ups = 3}, "30") == "layout-warm-up");
  CHECK(Cause({.warm_ups = 1}, {}, "30") == "layout-warm-up");
  CHECK(Cause({}, {.workspace_in_capture = true}, "20") == "layout-capture");
  CHECK(Cause({.workspace_in_capture = true}, {}, "20") == "layout-capture");
  CHECK(Cause({}, {.small_first = true}, "30") == "layout-capture-order");
  CHECK(Cause({}, {.weights = 9 * kLayoutMiB}, "10") == "layout-size");
  CHECK(Cause({}, {.collected = true}, "10") == "layout-free");
}

TEST_CASE("what follows is counted") {
  const auto found = FindLayoutDiff(Server{}.Run(), Server{.empty_cache = true}.Run());
  REQUIRE(found.size() == 3);
  CHECK(found[1].message ==
        "2 allocations from there on lie elsewhere (12 KiB), and 2 nodes of graphs point there");
  CHECK(found[0].count_before == 0);
  CHECK(found[0].count_after == 1);
}

}  // namespace
}  // namespace graphkit
