#include "libgraphkit/alloc/policies/policy.h"

#include <doctest/doctest.h>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

// An eager block that a second eager stream used is freed while (or after) a graph is captured
// elsewhere.
Collateral Run(bool during, bool recorded) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  const StreamId e = t.Stream("eager");
  const StreamId f = t.Stream("other");
  const BlockId x = t.Alloc(e, 4096);
  if (recorded) t.RecordStream(x, f);
  t.BeginCapture(a);
  t.Kernel(a, "work");
  if (during) t.Free(x);
  t.EndCapture(a);
  if (!during) t.Free(x);
  return FindCollateral(t.Build());
}

TEST_CASE("a free elsewhere in the process waits for a capture that has nothing to do with it") {
  CHECK(Run(true, true) == Collateral{.blocks = 1, .bytes = 4096, .peak = 4096});
}

TEST_CASE("no capture, or no other stream: nothing waits") {
  CHECK(Run(false, true) == Collateral{});
  CHECK(Run(true, false) == Collateral{});
}

TEST_CASE("a block of a user's MemPool isn't held back outside of captures") {
  TraceBuilder t;
  const StreamId e = t.Stream("eager");
  const StreamId f = t.Stream("other");
  t.SetPool(t.Pool(PoolKind::kPrivate, "MemPool"));
  const BlockId x = t.Alloc(e, 4096);
  t.RecordStream(x, f);
  t.Free(x);
  const Ran trace = t.Build();
  CHECK(FindCollateral(trace) == Collateral{});
}

}  // namespace
}  // namespace graphkit
