// Properties of every allocator model, and those that each one has alone.
#include "libgraphkit/alloc/models/allocator_model.h"

#include <doctest/doctest.h>

#include <map>

#include "libgraphkit/alloc/models/async_pool.h"
#include "libgraphkit/random.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

bool Never(uint32_t) { return false; }
bool Always(uint32_t) { return true; }

template <typename Check>
void ForEachModel(const Check& check) {
  for (const ModelInfo& info : Models()) {
    CAPTURE(info.name);
    check(info);
  }
}

TEST_CASE("live blocks of a model never overlap, and lie in what it reserved") {
  ForEachModel([](const ModelInfo& info) {
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      BumpDriver driver;
      const auto model = MakeModel(info.kind, &driver);
      std::map<Address, std::pair<Bytes, ModelRequest>> live;
      Bytes asked = 0;
      for (uint32_t i = 0; i < 400; ++i) {
        if (!live.empty() && random.Below(5) < 2) {
          auto at = live.begin();
          std::advance(at, static_cast<ptrdiff_t>(random.Below(live.size())));
          asked -= at->second.first;
          model->Free(at->second.second.block, at->second.second.stream);
          live.erase(at);
        } else {
          const ModelRequest request{i, 1 + random.Below(3 * kMiB),
                                     static_cast<uint32_t>(random.Below(3))};
          const auto at = model->Malloc(request, random.Below(2) == 0 ? Never : Always);
          REQUIRE(at.has_value());
          const auto next = live.lower_bound(*at);
          REQUIRE((next == live.end() || *at + request.size <= next->first));
          if (next != live.begin()) {
            const auto before = std::prev(next);
            REQUIRE(before->first + before->second.first <= *at);
          }
          live[*at] = {request.size, request};
          asked += request.size;
        }
        if (random.Below(50) == 0) model->Synchronize();
        const ModelFigures figures = model->figures();
        REQUIRE(figures.allocated >= asked);
        REQUIRE(figures.reserved >= figures.allocated);
        REQUIRE(figures.peak_reserved >= figures.reserved);
        REQUIRE(driver.used() == figures.reserved);
      }
      for (const auto& [at, block] : live) model->Free(block.second.block, block.second.stream);
      CHECK(model->figures().allocated == 0);
      CHECK(model->figures().waits == 0);
    }
  });
}

TEST_CASE("a stream gets back what it freed, and nothing more is reserved") {
  ForEachModel([](const ModelInfo& info) {
    BumpDriver driver;
    const auto model = MakeModel(info.kind, &driver);
    const auto first = model->Malloc({0, kMiB, 1}, Never);
    const Bytes reserved = model->figures().reserved;
    model->Free(0, 1);
    CHECK(model->Malloc({1, kMiB, 1}, Never) == first);
    CHECK(model->figures().reserved == reserved);
  });
}

TEST_CASE("another stream gets it only where it comes after the free") {
  ForEachModel([](const ModelInfo& info) {
    const auto run = [&](bool after) {
      BumpDriver driver;
      const auto model = MakeModel(info.kind, &driver);
      const auto first = model->Malloc({0, 32 * kMiB, 1}, Never);
      model->Free(0, 1);
      return model->Malloc({1, 32 * kMiB, 2}, after ? Always : Never) == first;
    };
    CHECK_FALSE(run(false));
    CHECK(run(true) == (info.kind != ModelKind::kCaching));
  });
}

TEST_CASE("without memory a request is refused, and what is live stays") {
  ForEachModel([](const ModelInfo& info) {
    BumpDriver driver(40 * kMiB);
    const auto model = MakeModel(info.kind, &driver);
    const auto kept = model->Malloc({0, 16 * kMiB, 1}, Never);
    REQUIRE(kept.has_value());
    CHECK_FALSE(model->Malloc({1, 100 * kMiB, 1}, Never).has_value());
    CHECK(model->figures().allocated == 16 * kMiB);
    model->Free(0, 1);
    CHECK(model->Malloc({2, 16 * kMiB, 1}, Never) == kept);
  });
}

TEST_CASE("the driver's pool hands memory on by each of its three policies, and by no other") {
  const auto run = [](AsyncPoolConfig config, bool after, bool passed) {
    BumpDriver driver;
    AsyncPool pool(config, &driver);
    const auto first = pool.Malloc({0, kMiB, 1}, Never);
    const auto rest = pool.Malloc({1, kMiB, 1}, Never);  // fills the region
    REQUIRE(rest.has_value());
    pool.Free(0, 1);
    if (passed) pool.Progress();
    const bool reused = pool.Malloc({2, kMiB, 2}, after ? Always : Never) == first;
    return std::pair(reused, pool.figures().waits);
  };
  using Found = std::pair<bool, uint64_t>;
  const AsyncPoolConfig none{.follow_event_dependencies = false,
                             .allow_opportunistic = false,
                             .allow_internal_dependencies = false};
  AsyncPoolConfig events = none;
  events.follow_event_dependencies = true;
  AsyncPoolConfig opportunistic = none;
  opportunistic.allow_opportunistic = true;
  AsyncPoolConfig internal = none;
  internal.allow_internal_dependencies = true;
  CHECK(run(none, true, true) == Found(false, 0));
  CHECK(run(events, true, false) == Found(true, 0));
  CHECK(run(events, false, true) == Found(false, 0));
  CHECK(run(opportunistic, false, true) == Found(true, 0));
  CHECK(run(opportunistic, true, false) == Found(false, 0));
  CHECK(run(internal, false, false) == Found(true, 1));
}

TEST_CASE("the driver's pool keeps its release threshold when something is synchronised") {
  const auto kept = [](Bytes threshold) {
    BumpDriver driver;
    AsyncPool pool({.release_threshold = threshold}, &driver);
    for (uint32_t i = 0; i < 4; ++i) CHECK(pool.Malloc({i, 2 * kMiB, 1}, Never).has_value());
    for (uint32_t i = 0; i < 3; ++i) pool.Free(i, 1);
    CHECK(pool.figures().reserved == 8 * kMiB);
    pool.Synchronize();
    return pool.figures().reserved;
  };
  CHECK(kept(0) == 2 * kMiB);
  CHECK(kept(4 * kMiB) == 4 * kMiB);
  CHECK(kept(64 * kMiB) == 8 * kMiB);
}

}  // namespace
}  // namespace graphkit
