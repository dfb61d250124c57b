#include "tests/schedule/schedule.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

std::string Wrong(const char* text) {
  const Result<StepOrder> order = ParseStepOrder(text);
  return order ? "nothing" : order.error().message;
}

TEST_CASE("an order is read with its microbatches") {
  const StepOrder expected{.chunks = 1,
                           .microbatches = 2,
                           .steps = {{StepKind::kForward, 0, 0},
                                     {StepKind::kForward, 0, 1},
                                     {StepKind::kBackward, 0, 0},
                                     {StepKind::kWeightGrad, 0, 0},
                                     {StepKind::kBackward, 0, 1},
                                     {StepKind::kWeightGrad, 0, 1}}};
  const Result<StepOrder> order = ParseStepOrder("[1, 1.0, -1, -1.5, -1, -1.5]");
  REQUIRE(order);
  CHECK(*order == expected);
  CHECK(StepOrderText(*order) == "1 1 -1 -1.5 -1 -1.5");
}

TEST_CASE("forwards only is an order") {
  const Result<StepOrder> order = ParseStepOrder("1 2 1 2");
  REQUIRE(order);
  CHECK(order->forward_only());
  CHECK(order->microbatches == 2);
}

TEST_CASE("what is no order says why") {
  CHECK(Wrong("") == "the order is empty");
  CHECK(Wrong("1 x") == "entry 2 of the order, 'x', is no chunk, as 1, -1 or -1.5");
  CHECK(Wrong("1 0") == "entry 2 of the order, '0', is no chunk, as 1, -1 or -1.5");
  CHECK(Wrong("1.5") == "entry 1 of the order, '1.5', is no chunk, as 1, -1 or -1.5");
  CHECK(Wrong("nan") == "entry 1 of the order, 'nan', is no chunk, as 1, -1 or -1.5");
  CHECK(Wrong("1e9") == "entry 1 of the order, '1e9', is no chunk, as 1, -1 or -1.5");
  CHECK(Wrong("-1 1") == "entry 1 of the order, -1, is a backward before its forward");
  CHECK(Wrong("1 2 -2") == "chunk 1 has 1 forwards and 0 backwards in the order");
  CHECK(Wrong("1 3 -3 -1") == "chunk 2 has 0 forwards, chunk 1 has 1 in the order");
  CHECK(Wrong("1 2 -2 -1 -2.5 -1.5") ==
        "entry 5 of the order, -2.5, holds weight gradients of another backward than the last one");
  CHECK(Wrong("1 1 -1 -1.5 -1") == "chunk 1 has 2 backwards and 1 weight gradients in the order");
}

}  // namespace
}  // namespace graphkit
