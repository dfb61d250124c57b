#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A symmetric buffer in a pool of its own, exchanged in the middle of a step.
struct Step {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  PoolId own = t.Pool(PoolKind::kPrivate, "symmetric");
  PoolId pool = t.Pool(PoolKind::kPrivate, "compute");
  BlockId buffer;
  BlockId activation;

  explicit Step(bool early) {
    t.SetPool(own);
    buffer = t.Alloc(a, 8192);
    t.BeginCapture(a, "step");
    t.SetPool(pool);
    if (early) Exchange();
    activation = AllocWritten(t, a, 4096, "forward");
    if (!early) Exchange();
    t.Kernel(a, "backward", {Reads(activation)});
    t.Free(activation);
    t.EndCapture(a);
    t.Free(buffer);
  }
  void Exchange() {
    t.Kernel(a, "pack", {Writes(buffer)});
    t.Kernel(a, "ncclDevKernel_ReduceScatter", {ReadsWrites(buffer)});
  }
};

TEST_CASE("comm-buffer-idle names what could lie in a buffer after the exchange") {
  Step step(true);
  const Finding finding = RunForOne("comm-buffer-idle", &step.t);
  CHECK(finding.message ==
        "4 KiB of graph 0 'step' could lie in communication buffers that are idle then: block 0");
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.bytes == 4096);
  CHECK(finding.blocks == std::vector{step.buffer});
}

TEST_CASE("comm-buffer-idle finds nothing when the memory is needed during the exchange") {
  Step step(false);
  CHECK(Run("comm-buffer-idle", &step.t).empty());
}

//     exchange ── malloc x, work, free x ── exchange, filled by a write or by a read and a write
struct TwoExchanges {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  BlockId buffer = t.Alloc({}, 8192);
  BlockId between;

  explicit TwoExchanges(Access refill) {
    t.BeginCapture(a, "step");
    Exchange(Writes(buffer));
    between = AllocUsed(t, a, 4096, "work");
    refill.block = buffer;
    Exchange(refill);
    t.EndCapture(a);
  }
  void Exchange(Access fill) {
    t.Kernel(a, "pack", {fill});
    t.Kernel(a, "ncclDevKernel_AllReduce", {ReadsWrites(buffer)});
  }
};

TEST_CASE("comm-buffer-idle names what could lie in a buffer between two exchanges") {
  TwoExchanges step(Writes({}));
  const Finding finding = RunForOne("comm-buffer-idle", &step.t);
  CHECK(finding.message ==
        "4 KiB of graph 0 'step' could lie in communication buffers that are idle then: block 0");
  CHECK(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].text ==
        "block 1 (4 KiB) could lie in block 0 (8 KiB) while nothing is exchanged");
}

TEST_CASE("comm-buffer-idle finds nothing between exchanges when the buffer keeps something") {
  TwoExchanges adds(ReadsWrites({}));
  CHECK(Run("comm-buffer-idle", &adds.t).empty());
  TwoExchanges half(Writes({}, 0, 4096));
  CHECK(Run("comm-buffer-idle", &half.t).empty());
}

TEST_CASE("comm-buffer-idle finds nothing when nothing is exchanged") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const BlockId outside = t.Alloc({}, 8192);
  t.BeginCapture(a);
  t.Kernel(a, "pack", {Writes(outside)});
  AllocUsed(t, a, 4096);
  t.EndCapture(a);
  CHECK(Run("comm-buffer-idle", &t).empty());
}

}  // namespace
}  // namespace graphkit
