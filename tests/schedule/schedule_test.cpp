#include "tests/schedule/schedule.h"

#include <doctest/doctest.h>

#include <tuple>

namespace graphkit {
namespace {

std::string OrderOf(const ScheduleOptions& options) {
  const Result<StepOrder> order = MakeSchedule(options);
  return order ? StepOrderText(*order) : order.error().message;
}

TEST_CASE("the order of Megatron-LM's docstring: two stages, two chunks, groups of three") {
  CHECK(OrderOf({.stages = 2, .rank = 0, .chunks = 2, .microbatches = 5, .group = 3}) ==
        "1 1 1 2 2 2 -2 1 -2 1 -2 2 -1 2 -1 -1 -2 -2 -1 -1");
}

TEST_CASE("without a pipeline there is no warm-up") {
  CHECK(WarmupForwards({.stages = 1, .microbatches = 8}) == 0);
  CHECK(OrderOf({.stages = 1, .microbatches = 4}) == "1 -1 1 -1 1 -1 1 -1");
}

TEST_CASE("warm-up forwards of 1F1B, interleaved or not") {
  const auto warmup = [](uint32_t stages, uint32_t chunks, uint32_t microbatches, uint32_t rank) {
    return WarmupForwards(
        {.stages = stages, .rank = rank, .chunks = chunks, .microbatches = microbatches});
  };
  CHECK(warmup(4, 1, 32, 0) == 3);
  CHECK(warmup(4, 1, 32, 3) == 0);
  CHECK(warmup(4, 1, 2, 0) == 2);  // never more than there are
  CHECK(warmup(4, 2, 32, 0) == 10);
  CHECK(warmup(4, 5, 32, 0) == 22);
  CHECK(warmup(4, 5, 32, 3) == 16);
  CHECK(warmup(8, 4, 64, 0) == 38);
  CHECK(WarmupForwards({.stages = 4, .chunks = 2, .microbatches = 32, .overlap_moe = true}) == 11);
}

TEST_CASE("forward only, F-then-B and delayed weight gradients") {
  CHECK(OrderOf({.kind = ScheduleKind::kForwardOnly, .stages = 2, .microbatches = 3}) == "1 1 1");
  CHECK(OrderOf({.kind = ScheduleKind::kForwardThenBackward, .stages = 2, .microbatches = 3}) ==
        "1 1 1 -1 -1 -1");
  CHECK(OrderOf({.stages = 2, .microbatches = 3, .delay_weight_grads = true}) ==
        "1 1 -1 1 -1.5 -1 -1.5 -1 -1.5");
}

TEST_CASE("options that contradict each other are refused") {
  CHECK(OrderOf({.stages = 2, .rank = 2}) == "rank 2 of 2 stages");
  CHECK(OrderOf({.stages = 4, .chunks = 2, .microbatches = 8, .group = 3}) ==
        "groups of 3 microbatches are fewer than the 4 stages");
  CHECK(OrderOf({.stages = 1, .microbatches = 0}) ==
        "a pipeline without stages, chunks or microbatches");
  CHECK(OrderOf({.stages = 1, .chunks = 4000, .microbatches = 4000}) ==
        "more than ten million steps");
}

// The grid of Megatron-LM's test_get_pipeline_parallel_order, on every rank and with weight
// gradients: what ParseStepOrder accepts has as many backwards as forwards, each after its forward.
TEST_CASE("every schedule of the grid is an order of its size") {
  const std::tuple<uint32_t, uint32_t> kStagesAndGroups[] = {{1, 1}, {2, 2}, {2, 4}, {4, 4},
                                                             {4, 5}, {8, 9}, {8, 11}};
  size_t checked = 0;
  for (const auto& [stages, group] : kStagesAndGroups) {
    for (const uint32_t microbatches : {8u, 32u}) {
      for (const uint32_t chunks : {1u, 2u, 4u, 8u}) {
        for (uint32_t rank = 0; rank < stages; ++rank) {
          for (const bool delayed : {false, true}) {
            const ScheduleOptions options{.stages = stages,
                                          .rank = rank,
                                          .chunks = chunks,
                                          .microbatches = microbatches,
                                          .group = group,
                                          .delay_weight_grads = delayed};
            const Result<StepOrder> order = MakeSchedule(options);
            REQUIRE(order);
            CAPTURE(StepOrderText(*order));
            CHECK(order->steps.size() == (delayed ? 3u : 2u) * microbatches * chunks);
            const Result<StepOrder> parsed = ParseStepOrder(StepOrderText(*order));
            REQUIRE(parsed);
            CHECK(*parsed == *order);  // the numbers of the microbatches, too
            ++checked;
          }
        }
      }
    }
  }
  CHECK(checked == 464);
}

}  // namespace
}  // namespace graphkit
