#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

void AllocateTiny(TraceBuilder* t, StreamId stream, int count, Bytes size) {
  for (int i = 0; i < count; ++i) {
    const BlockId block = t->Alloc(stream, size);
    t->Kernel(stream, "fill", {Writes(block)});
    t->Free(block);
  }
}

TEST_CASE("repeated-tiny-allocation lists what is allocated again and again, by place") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.BeginCapture(s, "step");
  t.SetStack(t.Stack({{"quantize", "scale.py", 12}}));
  AllocateTiny(&t, s, 20, 4);
  t.SetStack({});
  AllocateTiny(&t, s, 16, 8);
  AllocateTiny(&t, s, 5, 16);
  t.EndCapture(s);
  const Finding finding = RunForOne("repeated-tiny-allocation", &t);
  CHECK(finding.message == "graph 0 'step' makes 36 tiny blocks that are alike");
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.bytes == 36 * 512);
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[0].text == "4 B, 20 times in quantize (scale.py:12)");
  CHECK(finding.evidence[1].text == "8 B, 16 times");
}

TEST_CASE("repeated-tiny-allocation finds nothing where sizes differ, or outside of captures") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  for (int i = 0; i < 40; ++i) t.Free(t.Alloc(s, 4));
  t.BeginCapture(s);
  AllocateTiny(&t, s, 40, 4096);
  for (Bytes size = 1; size <= 40; ++size) AllocateTiny(&t, s, 1, size);
  t.EndCapture(s);
  CHECK(Run("repeated-tiny-allocation", &t).empty());
}

}  // namespace
}  // namespace graphkit
