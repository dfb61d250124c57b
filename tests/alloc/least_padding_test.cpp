#include "libgraphkit/alloc/estimate/estimate.h"

#include <algorithm>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "tests/random.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

// Request by request, by the definition; nothing: one has no size.
std::optional<uint64_t> PaddingIn(const std::vector<SizeCount>& requests,
                                  const std::vector<uint64_t>& sizes) {
  uint64_t padding = 0;
  for (const SizeCount& request : requests) {
    std::optional<uint64_t> runs_in;
    for (const uint64_t size : sizes) {
      if (size >= request.size && (!runs_in || size < *runs_in)) runs_in = size;
    }
    if (!runs_in) return std::nullopt;
    padding += (*runs_in - request.size) * request.count;
  }
  return padding;
}

// All sets of options.
std::optional<std::pair<uint64_t, Bytes>> BruteForce(const std::vector<SizeCount>& requests,
                                                     const std::vector<SizeOption>& options,
                                                     Bytes budget) {
  std::optional<std::pair<uint64_t, Bytes>> best;
  for (uint32_t set = 0; set < 1u << options.size(); ++set) {
    std::vector<uint64_t> sizes;
    Bytes bytes = 0;
    for (size_t i = 0; i < options.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      sizes.push_back(options[i].size);
      bytes += options[i].bytes;
    }
    const std::optional<uint64_t> padding = PaddingIn(requests, sizes);
    if (!padding || bytes > budget) continue;
    if (!best || std::pair(*padding, bytes) < *best) best = {*padding, bytes};
  }
  return best;
}

std::vector<uint64_t> RandomSizes(size_t most, std::mt19937_64& random) {
  std::vector<uint64_t> sizes;
  const size_t count = 1 + random() % most;
  for (size_t i = 0; i < count; ++i) sizes.push_back(1 + random() % 40);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

TEST_CASE("the sizes with the least padding are those of all sets") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  int possible = 0;
  for (int round = 0; round < RandomRounds(500); ++round) {
    CAPTURE(round);
    std::vector<SizeCount> requests;
    std::vector<SizeOption> options;
    for (const uint64_t size : RandomSizes(14, random)) requests.push_back({size, random() % 50});
    const bool alike = random() % 3 == 0;  // as execs with the same nodes
    for (const uint64_t size : RandomSizes(11, random))
      options.push_back({size, alike ? 7 : random() % 100});
    const Bytes budget = random() % (alike ? 60 : 350);
    const auto found = FindLeastPadding(requests, options, budget);
    const auto best = BruteForce(requests, options, budget);
    REQUIRE(found.has_value() == best.has_value());
    if (!found) continue;
    ++possible;
    REQUIRE(std::pair(found->padding, found->bytes) == *best);
    REQUIRE(PaddingIn(requests, found->sizes) == found->padding);
    Bytes bytes = 0;
    for (const SizeOption& option : options) {
      if (std::ranges::count(found->sizes, option.size) > 0) bytes += option.bytes;
    }
    REQUIRE(bytes == found->bytes);
  }
  CHECK(possible > 100);
}

TEST_CASE("requests run in the smallest size that was chosen and holds them") {
  const Result<Ran> trace = ReadRan(GRAPHKIT_TESTDATA "/traces/soft/inference_server.json");
  REQUIRE(trace);
  const EstimateOptions options{.sizes = {1, 2, 4, 8}, .captured = {1, 2, 4, 8}};
  const std::vector<SizeCount> requests = {{1, 1000}, {3, 10}, {7, 5}};
  const auto within = [&](Bytes budget) {
    return EstimateWithin(*trace, options, requests, budget);
  };
  const Result<MemoryEstimate> all = within(Bytes{1} << 30);
  REQUIRE(all);
  const auto column = [](const MemoryEstimate& estimate, uint64_t EstimatedSize::*of) {
    std::vector<uint64_t> values;
    for (const EstimatedSize& size : estimate.sizes) values.push_back(size.*of);
    return values;
  };
  using Values = std::vector<uint64_t>;
  CHECK(column(*all, &EstimatedSize::size) == Values{8, 4, 1});
  CHECK(column(*all, &EstimatedSize::launches) == Values{5, 10, 1000});
  CHECK(column(*all, &EstimatedSize::padding) == Values{5, 10, 0});
  CHECK(all->requested == 1065);
  CHECK(all->candidates == 4);
  const EstimatedSize& largest = all->sizes.front();
  const Result<MemoryEstimate> one = within(largest.pool_growth.bytes + largest.execs.bytes);
  REQUIRE(one);
  CHECK(column(*one, &EstimatedSize::launches) == Values{1015});
  CHECK(!within(4096));
  CHECK(!EstimateWithin(*trace, options, {{9, 1}}, Bytes{1} << 30));
}

}  // namespace
}  // namespace graphkit
