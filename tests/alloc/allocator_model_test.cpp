// Properties of every allocator model, and those that each one has alone.
#include "libgraphkit/alloc/models/allocator_model.h"

#include <doctest/doctest.h>

#include <map>

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
      const auto model = info.make(&driver);
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
        REQUIRE(model->reserved() >= asked);
        REQUIRE(driver.used() == model->reserved());
      }
    }
  });
}

TEST_CASE("a stream gets back what it freed, and nothing more is reserved") {
  ForEachModel([](const ModelInfo& info) {
    BumpDriver driver;
    const auto model = info.make(&driver);
    const auto first = model->Malloc({0, kMiB, 1}, Never);
    const Bytes reserved = model->reserved();
    model->Free(0, 1);
    CHECK(model->Malloc({1, kMiB, 1}, Never) == first);
    CHECK(model->reserved() == reserved);
  });
}

TEST_CASE("another stream gets it only where it comes after the free") {
  ForEachModel([](const ModelInfo& info) {
    const auto run = [&](bool after) {
      BumpDriver driver;
      const auto model = info.make(&driver);
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
    const auto model = info.make(&driver);
    const auto kept = model->Malloc({0, 16 * kMiB, 1}, Never);
    REQUIRE(kept.has_value());
    CHECK_FALSE(model->Malloc({1, 100 * kMiB, 1}, Never).has_value());
    model->Free(0, 1);
    CHECK(model->Malloc({2, 16 * kMiB, 1}, Never) == kept);
  });
}

}  // namespace
}  // namespace graphkit
