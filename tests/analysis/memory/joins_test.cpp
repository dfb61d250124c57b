#include "libgraphkit/analysis/analyze.h"

#include <doctest/doctest.h>

#include "libgraphkit/analysis/facts.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

TEST_CASE("joins count what captured blocks lack, and why") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const StackId own = t.Stack({{"step", "train.py", 12}});
  const StackId library = t.Stack({{"run", "/venv/lib/python3/site-packages/torch/x.py", 3}});
  t.SetStack(own);
  t.Alloc(s, 512);  // outside of graphs: not counted
  t.BeginCapture(s);
  t.Kernel(s, "whole", {Writes(t.Alloc(s, 512))});
  t.Free(t.Alloc(s, 512));  // touched by no node
  t.SetStack(library);
  t.Kernel(s, "library", {Writes(t.Alloc(s, 512))});
  t.SetStack({});
  t.Kernel(s, "none", {Writes(t.Alloc(s, 512))});
  t.SetStack(own);
  const BlockId unread = t.Alloc(s, 512);
  t.Kernel(s, "opaque");
  t.Free(unread);
  t.EndCapture(s);
  CHECK(CountJoins(Facts(t.Build())) == BlockJoins{.captured_blocks = 5,
                                                   .joined = 2,
                                                   .without_stack = 1,
                                                   .library_only = 1,
                                                   .untouched = 1,
                                                   .unread = 1});
}

}  // namespace
}  // namespace graphkit
