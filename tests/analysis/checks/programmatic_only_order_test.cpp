#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

std::vector<Finding> ConsumeEarly(Ternary waits, std::string_view check) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const BlockId x = t.Alloc(a, 4096);
  t.BeginCapture(a);
  t.Kernel(a, "produce", {Writes(x)});
  const Access read[] = {Reads(x)};
  t.ProgrammaticKernel(a, t.Function("consume", waits), read);
  t.EndCapture(a);
  return Run(check, &t);
}

TEST_CASE("programmatic-only-order is an error when the consumer is known not to wait") {
  const std::vector<Finding> findings = ConsumeEarly(Ternary::kNo, "programmatic-only-order");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kError);
  CHECK(findings[0].message ==
        "node 1 (consume) doesn't wait for its grid dependencies: nothing else ends node 0 "
        "(produce) before node 1 (consume) touches block 0 (4 KiB)");
}

TEST_CASE("programmatic-only-order is a note when nobody knows whether it waits") {
  const std::vector<Finding> findings = ConsumeEarly(Ternary::kUnknown, "programmatic-only-order");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
}

TEST_CASE("a correct programmatic launch is no finding, and never missing order") {
  CHECK(ConsumeEarly(Ternary::kYes, "programmatic-only-order").empty());
  CHECK(ConsumeEarly(Ternary::kYes, "missing-order").empty());
  CHECK(ConsumeEarly(Ternary::kNo, "missing-order").empty());
}

}  // namespace
}  // namespace graphkit
