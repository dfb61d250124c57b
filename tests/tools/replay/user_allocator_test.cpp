#include "tools/graphkit/replay/user_allocator.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tests/generate/synth.h"
#include "tests/tools/replay/host_executor.h"

namespace graphkit {
namespace {

Ran Sample() {
  return Synthesize({.ops = 300, .streams = 3, .join = 0.3, .alloc = 0.4, .free = 0.3, .seed = 4});
}

struct Tried {
  PolicyReplay replay;
  bool clean = false;  // executed
};

Tried Replay(const Ran& trace) {
  const Result<UserAllocator> allocator = UserAllocator::Load(GRAPHKIT_EXAMPLE_ALLOCATOR);
  REQUIRE_MESSAGE(allocator.has_value(), Describe(allocator.error()));
  const Facts facts(trace);
  const Result<std::vector<Bytes>> offsets = PlaceByAllocator(facts, allocator->table());
  REQUIRE(offsets.has_value());
  PolicyReplay replay = ReplayOffsets(facts, *offsets, {.verify = true}, allocator->table().name);
  const bool clean = ExecutesClean(facts, replay, 100);
  return {std::move(replay), clean};
}

TEST_CASE("an allocator that asks for the order is safe, and needs no more than defer") {
  const Ran trace = Sample();
  const auto [replay, clean] = Replay(trace);
  CHECK(replay.given == "example");
  CHECK(replay.verified);
  CHECK(clean);
  CHECK(replay.figures.peak_extent >= replay.figures.lower_bound);
  CHECK(replay.figures.peak_extent <
        ReplayTrace(Facts(trace), PolicyKind::kDefer).figures.peak_extent);
}

TEST_CASE("one that doesn't is found out, by its order and by its bytes") {
  const Ran trace = Sample();
  setenv("EXAMPLE_UNSAFE", "1", 1);
  const auto [replay, clean] = Replay(trace);
  unsetenv("EXAMPLE_UNSAFE");
  CHECK_FALSE(replay.verified);
  CHECK_FALSE(clean);
}

TEST_CASE("a library without an allocator is refused by name") {
  const Result<UserAllocator> none = UserAllocator::Load("/nowhere/libnone.so");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().file == "/nowhere/libnone.so");
}

}  // namespace
}  // namespace graphkit
