#include "libgraphkit/analysis/explain/memory_account.h"

#include <doctest/doctest.h>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr const char* kModule = "/v/site-packages/torch/nn/modules/module.py";
constexpr const char* kEngine = "torch::autograd::Engine::thread_main(GraphTask const&)";

// Blocks one after the other in one large segment of PyTorch's allocator.
struct Run {
  TraceBuilder t;
  StreamId stream;
  SegmentId segment;
  Address next = 0;
  Run() {
    const PoolId pool = t.Pool(PoolKind::kAllocator, "PyTorch");
    stream = t.Stream();
    segment = t.Segment(pool, 1024 * kMiB, stream);
    next = t.trace()[segment].address;
  }
  BlockId Alloc(StackId stack, Bytes size) {
    t.SetStack(stack);
    const BlockId block = t.AllocAt(stream, size, next, segment);
    next += size;
    return block;
  }
  StackId Forward() {
    return t.Stack({{"at::_ops::mul_Tensor::call()", "??", 0},
                    {"forward", "/app/model.py", 7},
                    {"_call_impl", kModule, 1750},
                    {"<module>", "/app/train.py", 21}});
  }
  StackId Backward() {
    return t.Stack(
        {{"torch::autograd::generated::MulBackward0::apply()", "??", 0}, {kEngine, "??", 0}});
  }
};

MemoryAccount Account(TraceBuilder& t) {
  const Ran trace = t.Build();
  return AccountForMemory(MemoryFacts(trace)).at(0);
}

std::vector<MemoryRemark::Kind> KindsOf(const MemoryAccount& account) {
  std::vector<MemoryRemark::Kind> kinds;
  for (const MemoryRemark& remark : account.remarks) kinds.push_back(remark.kind);
  return kinds;
}

TEST_CASE("holders are the lines of the peak, the most bytes first") {
  Run run;
  const StackId forward = run.Forward();
  run.Alloc(forward, 8 * kMiB);
  run.Alloc(forward, 16 * kMiB);
  run.t.Free(run.Alloc({}, 4 * kMiB), run.stream);
  run.Alloc(run.Backward(), kMiB);
  const MemoryAccount account = Account(run.t);
  REQUIRE(account.holders.size() == 2);
  CHECK(account.holders[0] == HeldGroup{.kind = HeldGroup::Kind::kLine,
                                        .place = "app/model.py:7",
                                        .file = "/app/model.py",
                                        .function = "forward",
                                        .line = 7,
                                        .operations = {"mul"},
                                        .role = MemoryRole::kForward,
                                        .bytes = 24 * kMiB,
                                        .blocks = 2,
                                        .stack = forward});
  CHECK(account.holders[1].kind == HeldGroup::Kind::kNoStack);
  CHECK(account.told.in_use == 28 * kMiB);
}

TEST_CASE("what was there before the first event was allocated before recording") {
  Run run;
  run.Alloc({}, kMiB);
  const MemoryHistory history{.devices = 1, .seq = run.t.trace().records};
  run.Alloc({}, 2 * kMiB);
  run.Alloc(run.Forward(), 4 * kMiB);
  Ran trace = run.t.Build();
  trace.histories = {history};
  const MemoryAccount account = AccountForMemory(MemoryFacts(trace)).at(0);
  REQUIRE(account.holders.size() == 3);
  CHECK(account.holders[0].kind == HeldGroup::Kind::kLine);
  CHECK(account.holders[1].kind == HeldGroup::Kind::kNoStack);
  CHECK(account.holders[2].kind == HeldGroup::Kind::kBeforeRecording);
}

TEST_CASE("where none of the holders has a stack they are pools") {
  Run run;
  run.Forward();  // of a node, say
  run.Alloc({}, kMiB);
  const MemoryAccount account = Account(run.t);
  REQUIRE(account.holders.size() == 1);
  CHECK(account.holders[0].kind == HeldGroup::Kind::kPool);
}

TEST_CASE("without any stack holders are pools") {
  Run run;
  run.Alloc({}, kMiB);
  const MemoryAccount account = Account(run.t);
  REQUIRE(account.holders.size() == 1);
  CHECK(account.holders[0] ==
        HeldGroup{.kind = HeldGroup::Kind::kPool, .pool = PoolId(0u), .bytes = kMiB, .blocks = 1});
}

TEST_CASE("memory of a forward that outlives the last backward is kept, by a line") {
  Run run;
  run.Alloc(run.Forward(), 64 * kMiB);
  run.t.Free(run.Alloc(run.Forward(), 32 * kMiB), run.stream);
  run.Alloc(run.Backward(), kMiB);
  run.Alloc(run.Forward(), 16 * kMiB);  // of the next step
  const Ran trace = run.t.Build();
  CHECK(FindKeptByForward(MemoryFacts(trace), NamesOfStacks(trace), 0, 0) ==
        KeptByForward{
            .bytes = 64 * kMiB, .blocks = 1, .backward_ran = true, .caller = "app/train.py:21"});
}

TEST_CASE("without a backward all memory of forwards at the end is kept") {
  Run run;
  run.Alloc(run.Forward(), 64 * kMiB);
  const Ran trace = run.t.Build();
  const KeptByForward kept = FindKeptByForward(MemoryFacts(trace), NamesOfStacks(trace), 0, 0);
  CHECK(kept == KeptByForward{.bytes = 64 * kMiB, .blocks = 1, .caller = "app/train.py:21"});
}

TEST_CASE("the workspace of a library isn't kept by the program") {
  Run run;
  run.Alloc(run.t.Stack({{"at::cuda::getCUDABlasLtWorkspace()", "??", 0},
                         {"at::_ops::addmm::call()", "??", 0},
                         {"forward", "/app/model.py", 7},
                         {"_call_impl", kModule, 1750},
                         {"<module>", "/app/train.py", 21}}),
            64 * kMiB);
  const Ran trace = run.t.Build();
  CHECK(FindKeptByForward(MemoryFacts(trace), NamesOfStacks(trace), 0, 0) == KeptByForward());
}

TEST_CASE("kept outputs look like kept activations: the advice names both") {
  Run run;
  run.Alloc(run.Forward(), 64 * kMiB);
  const MemoryAccount account = Account(run.t);
  REQUIRE(KindsOf(account) ==
          std::vector{MemoryRemark::Kind::kIdle, MemoryRemark::Kind::kForwardKept});
  CHECK(
      account.remarks[1].text ==
      "64 MiB in 1 block that forwards allocated, allocated at the end; no backward was recorded");
  CHECK(account.remarks[1].advice ==
        "activations, if gradients are on: torch.no_grad() keeps none; otherwise outputs, caches "
        "or workspaces that are kept (app/train.py:21)");
}

TEST_CASE("most of the peak from before recording: the advice is to record earlier") {
  for (const bool stacked : {false, true}) {
    Run run;
    run.Alloc({}, 400 * kMiB);
    run.Alloc(stacked ? run.Forward() : StackId(), 200 * kMiB);
    const MemoryHistory history{.devices = 1, .seq = run.t.trace().records};
    run.Alloc(run.Backward(), 200 * kMiB);
    Ran trace = run.t.Build();
    trace.histories = {history};
    AppendHistoryEvents(&trace, 0, {{history.seq}});
    const MemoryAccount account = AccountForMemory(MemoryFacts(trace)).at(0);
    const auto found = std::ranges::find(account.remarks, MemoryRemark::Kind::kBeforeRecording,
                                         &MemoryRemark::kind);
    REQUIRE(found != account.remarks.end());
    CHECK(found->bytes == 600 * kMiB);
    CHECK(
        found->text ==
        std::string("600 MiB, 75.0% of what was in use at the peak, was allocated before recording "
                    "began") +
            (stacked ? ": 400 MiB without a call stack, and 200 MiB in 1 block with stacks of an "
                       "earlier recording, or whose events were lost"
                     : ""));
  }
}

TEST_CASE("large blocks of the loss at the peak are worth a look, a single one isn't") {
  for (const int blocks : {1, 4}) {
    Run run;
    const StackId loss =
        run.t.Stack({{"at::_ops::_log_softmax::call()", "??", 0}, {"loss", "/app/loss.py", 3}});
    for (int i = 0; i < blocks; ++i) run.Alloc(loss, 256 * kMiB);
    const Ran trace = run.t.Build();
    const MemoryAccount account = AccountForMemory(MemoryFacts(trace)).at(0);
    const FamilyBlocks found =
        FindFamily(trace, NamesOfStacks(trace),
                   MemoryFacts(trace).timeline().InUse(0, trace.records), OperatorFamily::kLoss);
    CHECK(found == FamilyBlocks{.bytes = static_cast<Bytes>(blocks) * 256 * kMiB,
                                .blocks = static_cast<uint64_t>(blocks),
                                .most_alike = 256 * kMiB,
                                .alike = static_cast<uint64_t>(blocks),
                                .place = "app/loss.py:3 _log_softmax"});
    const std::vector<MemoryRemark::Kind> kinds = KindsOf(account);
    CHECK((std::ranges::count(kinds, MemoryRemark::Kind::kLossBlocks) == 1) == (blocks > 1));
  }
}

// 900 MiB in use, 124 MiB idle, and a failure.
MemoryAccount WithFailure(Bytes asked, Bytes free_on_device) {
  Run run;
  run.Alloc({}, 900 * kMiB);
  run.t.Free(run.Alloc({}, 100 * kMiB), run.stream);
  const Seq failed = run.t.trace().records;
  run.t.Note("out of memory");
  Ran trace = run.t.Build();
  trace.histories = {{.devices = 1}};
  AppendHistoryEvents(&trace, 0, std::vector<Seq>{failed - 2, failed - 1, failed - 1, failed});
  trace.failures = {{.requested = 1, .seq = failed - 1},
                    {.requested = asked, .free_on_device = free_on_device, .seq = failed}};
  return AccountForMemory(MemoryFacts(trace)).at(0);
}

TEST_CASE("the last failure for lack of memory comes first, and its holders are told") {
  const MemoryAccount account = WithFailure(200 * kMiB, kMiB);
  CHECK(account.told.in_use == 900 * kMiB);
  REQUIRE_FALSE(account.remarks.empty());
  CHECK(account.remarks[0].kind == MemoryRemark::Kind::kOutOfMemory);
  CHECK(account.remarks[0].text ==
        "out of memory at event 3: 200 MiB asked for, 1 MiB free on the device, 124 MiB reserved "
        "but unused (largest free block 124 MiB)");
}

TEST_CASE("what helps against a failure depends on where the memory is") {
  const auto advice = [](Bytes asked, Bytes free_on_device) {
    return WithFailure(asked, free_on_device).remarks.at(0).advice;
  };
  CHECK(advice(200 * kMiB, kMiB).starts_with("the holders above are what has to shrink"));
  CHECK(advice(200 * kMiB, 100 * kMiB).starts_with("the memory is there, in pieces"));
  CHECK(advice(200 * kMiB, 300 * kMiB).starts_with("the device had enough: a limit refused it"));
}

TEST_CASE("a block that is freed and waits for another stream is deferred") {
  Run run;
  run.Alloc({}, 900 * kMiB);
  const BlockId block = run.Alloc({}, 100 * kMiB);
  run.t.RequestFree(block, run.stream);
  run.Alloc({}, 24 * kMiB);
  CHECK(KindsOf(Account(run.t)) == std::vector{MemoryRemark::Kind::kDeferred});
}

}  // namespace
}  // namespace graphkit
