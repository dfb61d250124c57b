#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "libgraphkit/ran/launch_order.h"
#include "tests/analysis/checks/run.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr const char* kScale = "_Z5ScalePff";          // Scale(float*, float)
constexpr const char* kSum = "_Z3SumPKfPf";            // Sum(const float*, float*)
constexpr const char* kFunctor = "_Z5ApplyI3AddEvT_";  // Apply<Add>(Add)

// A graph that reads x and writes y, both allocated before, launched on stream b.
struct Border : TwoStreams {
  BlockId x = t.Alloc({}, 4096);
  BlockId y = t.Alloc({}, 4096);
  GraphId graph;
  ExecId exec;

  Border() {
    graph = t.BeginCapture(b);
    t.Memcpy(b, {Writes(y, 0, 4096), Reads(x, 0, 4096)});
    t.EndCapture(b);
    exec = t.Instantiate(graph);
  }
  std::vector<Finding> Found() { return Run("border-order", &t); }
};

TEST_CASE("border-order names a copy that writes what an unordered launch reads") {
  Border s;
  s.t.SetStack(s.t.Stack({{"Upload", "/src/step.cu", 12}}));
  s.t.Work(s.a, NodeKind::kMemcpy, {Writes(s.x, 0, 4096)});
  s.t.SetStack({});
  s.t.Launch(s.exec, s.b);
  const Finding finding = RunForOne("border-order", &s.t);
  CHECK(finding.severity == Severity::kError);
  CHECK(finding.message ==
        "a memcpy on stream 0 'a' writes block 0 (4 KiB), launch 0 of graph 0 on stream 1 'b' "
        "reads it, and nothing orders the two");
  CHECK(finding.advice ==
        "after memcpy (src/step.cu:12): cudaEventRecord(event, a); before launch 0: "
        "cudaStreamWaitEvent(b, event)");
  CHECK(finding.blocks == std::vector{s.x});
  CHECK(finding.streams == std::vector{s.a, s.b});
  std::vector<std::string> texts;
  for (const Evidence& evidence : finding.evidence) texts.push_back(evidence.text);
  CHECK(texts == std::vector<std::string>{
                     "a memcpy on stream 0 'a' was submitted outside of graphs",
                     "launch 0 of graph 0 on stream 1 'b' runs node 0 (memcpy)",
                     "node 0 (memcpy) was captured on stream 1 'b'",
                     "a copy from memory that isn't page-locked returns once the driver has taken "
                     "the bytes, and may still be writing them",
                     "block 0 (4 KiB) was allocated before the first capture"});
}

TEST_CASE("border-order advises in the words of what handles the streams") {
  const FrameText own{"step", "/src/step.py", 12};
  const FrameText torch{"at::copy", "/lib/torch/lib/libtorch_cuda.so", 0};
  const FrameText library{"ggml_clear", "/lib/ggml/libggml-cuda.so", 0};
  const auto advice = [](std::initializer_list<FrameText> frames, const char* setting) {
    Border s;
    s.t.SetStack(s.t.Stack(frames));
    s.t.Work(s.a, NodeKind::kMemcpy, {Writes(s.x, 0, 4096)});
    s.t.SetStack({});
    s.t.Launch(s.exec, s.b);
    Ran trace = s.t.Build();
    trace.process.environment = {setting};
    const auto findings = Run("border-order", trace);
    return findings.empty() ? "" : findings[0].advice;
  };
  const std::string python =
      "after memcpy (src/step.py:12): event.record(a); before launch 0: b.wait_event(event)";
  CHECK(advice({own}, "") == python);
  CHECK(advice({torch, own}, "") == python);
  CHECK(advice({library, own}, "") ==
        "after memcpy (src/step.py:12): cudaEventRecord(event, a); before launch 0: "
        "cudaStreamWaitEvent(b, event)");
  CHECK(advice({library, own}, "PYTORCH_VERSION=2.9.1") == python);
}

TEST_CASE("border-order names default streams as CUDA does") {
  Border s;
  const StreamId own = s.t.Stream("", StreamKind::kPerThreadDefault);
  s.t.Work(own, NodeKind::kMemcpy, {Writes(s.x, 0, 4096)});
  s.t.Launch(s.exec, s.b);
  const Finding finding = RunForOne("border-order", &s.t);
  CHECK(finding.message ==
        "a memcpy on per-thread default stream 2 writes block 0 (4 KiB), launch 0 of graph 0 on "
        "stream 1 'b' reads it, and nothing orders the two");
  CHECK(finding.advice ==
        "after memcpy: cudaEventRecord(event, cudaStreamPerThread); before launch 0: "
        "cudaStreamWaitEvent(b, event)");
}

TEST_CASE("border-order names work that reads what an unordered launch writes") {
  Border s;
  s.t.Launch(s.exec, s.b);
  s.t.Work(s.a, kSum, {Reads(s.y)});
  const Finding finding = RunForOne("border-order", &s.t);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message ==
        "launch 0 of graph 0 on stream 1 'b' writes block 1 (4 KiB), Sum on stream 0 'a' reads it, "
        "and nothing orders the two");
}

TEST_CASE("border-order: many rounds of one cause are one finding") {
  Border s;
  for (int i = 0; i < 50; ++i) {
    s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
    s.t.Launch(s.exec, s.b);
  }
  CHECK(s.Found().size() == 1);
}

TEST_CASE("border-order finds nothing where events, the host or one stream order both") {
  for (const int how : {0, 1, 2, 3, 4}) {
    CAPTURE(how);
    Border s;
    for (int i = 0; i < 3; ++i) {
      s.t.Work(how == 3 ? s.b : s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
      if (how == 0) s.t.Order(s.a, s.b);
      if (how == 1) s.t.Synchronize(s.a);
      if (how == 2) s.t.Synchronize();
      if (how == 4) s.t.Free(s.t.Alloc({}, 64));  // cudaFree waits for the device
      s.t.Launch(s.exec, s.b);
      if (how == 0) s.t.Order(s.b, s.a);
      if (how == 1) s.t.Synchronize(s.b);
      if (how == 2) s.t.Synchronize();
      if (how == 4) s.t.Free(s.t.Alloc({}, 64));
    }
    CHECK(s.Found().empty());
  }
}

TEST_CASE("border-order: one direction that isn't ordered is enough") {
  Border s;
  for (int i = 0; i < 3; ++i) {
    s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
    s.t.Order(s.a, s.b);
    s.t.Launch(s.exec, s.b);
  }
  const std::vector<Finding> found = s.Found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.starts_with("launch 0 of graph 0"));
}

// What a kernel outside of graphs and one of a graph do to one block at the places given.
std::vector<Severity> Graded(const char* eager, Access of_eager, const char* captured,
                             Access of_captured) {
  TwoStreams s;
  of_eager.block = of_captured.block = s.t.Alloc({}, 4096);
  const GraphId graph = s.t.BeginCapture(s.b);
  s.t.Kernel(s.b, captured, {of_captured});
  s.t.EndCapture(s.b);
  s.t.Launch(s.t.Instantiate(graph), s.b);
  s.t.Work(s.a, eager, {of_eager});
  Ran trace = s.t.Build();
  trace.kernel_params = {{.offset = 0, .size = 64}};
  for (graphkit::Kernel& kernel : trace.kernels) {
    if (trace[kernel.name] == kFunctor) kernel.params = {0, 1};
  }
  std::vector<Severity> graded;
  for (const Finding& finding : Run("border-order", trace)) graded.push_back(finding.severity);
  return graded;
}

TEST_CASE("border-order grades by what is known of both") {
  using List = std::vector<Severity>;
  const BlockId x;
  CHECK(Graded("use", Writes(x, 0, 64), "use", Reads(x, 0, 64)) == List{Severity::kError});
  CHECK(Graded("use", Writes(x, 0, 64), "use", Reads(x, 64, 64)).empty());
  CHECK(Graded("use", Reads(x), "use", Reads(x)).empty());
  CHECK(Graded(kScale, Touches(x), kSum, Reads(x)) == List{Severity::kWarning});
  CHECK(Graded(kScale, Touches(x, 64), kSum, Reads(x)).empty());  // another pointer
  CHECK(Graded("use", Writes(x, 0, 256), kSum, Reads(x, 64)) == List{Severity::kWarning});
  CHECK(Graded("triton", Touches(x), kSum, Reads(x)).empty());
  CHECK(Graded("triton", Touches(x), "use", Writes(x)) == List{Severity::kWarning});
  CHECK(Graded(kFunctor, Touches(x), "use", Writes(x)) == List{Severity::kNote});
  CHECK(Graded(kFunctor, Touches(x), kScale, Touches(x)).empty());
}

TEST_CASE("border-order: launches of which one reads what the other one writes") {
  for (const bool ordered : {false, true}) {
    Border s;
    const GraphId reads = s.t.BeginCapture(s.a);
    s.t.Kernel(s.a, kSum, {Reads(s.y)});
    s.t.EndCapture(s.a);
    const ExecId other = s.t.Instantiate(reads);
    s.t.Launch(s.exec, s.b);
    if (ordered) s.t.Order(s.b, s.a);
    s.t.Launch(other, s.a);
    CHECK(s.Found().size() == (ordered ? 0 : 1));
  }
}

TEST_CASE("border-order leaves writes of two graphs and overwritten sends to their own checks") {
  Border s;
  const PoolId pinned = s.t.Pool(PoolKind::kHost);
  s.t.SetPool(pinned);
  const BlockId host = s.t.Alloc({}, 4096);
  const GraphId second = s.t.BeginCapture(s.a);
  s.t.Memset(s.a, {Writes(s.y, 0, 4096)});
  s.t.EndCapture(s.a);
  const ExecId writes = s.t.Instantiate(second);
  s.t.Launch(s.exec, s.b);
  s.t.Launch(writes, s.a);
  s.t.Synchronize();
  s.t.Work(s.b, NodeKind::kMemcpy, {Reads(s.y, 0, 4096), Writes(host, 0, 4096)});
  s.t.Launch(writes, s.a);
  const Ran trace = s.t.Build();
  CHECK(Run("border-order", trace).empty());
  CHECK(Run("shared-workspace", trace).size() == 1);
  CHECK(Run("send-buffer-reuse", trace).size() == 1);
}

TEST_CASE("border-order: what another thread waited for is a note") {
  Border s;
  const ThreadId main = s.t.Thread("main"), other = s.t.Thread("other");
  s.t.SetThread(main);
  s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
  s.t.Synchronize(s.a);
  s.t.SetThread(other);
  s.t.Launch(s.exec, s.b);
  const Finding finding = RunForOne("border-order", &s.t);
  CHECK(finding.severity == Severity::kNote);
}

TEST_CASE("border-order: records of work name the first thread, those of waits don't") {
  Border s;
  s.t.SetThread(s.t.Thread("main"));
  s.t.Thread("other");
  s.t.Launch(s.exec, s.b);
  s.t.Synchronize(s.b);
  s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
  CHECK(s.Found().empty());
}

TEST_CASE("border-order follows the legacy stream, and work there that was only counted") {
  const auto found = [](bool blocking, bool counted) {
    Border s;
    const StreamId legacy = s.t.Stream("", StreamKind::kLegacyDefault);
    s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
    if (!counted) s.t.Work(legacy, "use");
    s.t.Launch(s.exec, s.b);
    s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
    Ran trace = s.t.Build();
    if (counted)
      trace.eager_counts.push_back(
          {.stream = legacy, .kernels = 1, .seq = trace.launches[0].seq + 1});
    trace.streams[s.b.index()].non_blocking = !blocking;
    return Run("border-order", trace);
  };
  CHECK(found(false, false).size() == 1);
  CHECK(found(true, false).size() == 1);  // after the launch
  CHECK(found(false, true).size() == 1);
  CHECK(found(true, true).empty());
}

TEST_CASE("border-order follows events that nodes record and wait for") {
  const auto found = [](bool records, bool waits) {
    TwoStreams s;
    const BlockId x = s.t.Alloc({}, 4096);
    const EventId event = s.t.Event();
    const auto make = [&](NodeKind kind, bool with, Access access) {
      const GraphId graph = s.t.BeginCapture(s.b);
      if (with && kind == NodeKind::kEventWait) s.t.EventNode(s.b, kind, event);
      s.t.Memset(s.b, {access});
      if (with && kind == NodeKind::kEventRecord) s.t.EventNode(s.b, kind, event);
      s.t.EndCapture(s.b);
      return s.t.Instantiate(graph);
    };
    const ExecId first = make(NodeKind::kEventRecord, records, Writes(x, 0, 4096));
    const ExecId second = make(NodeKind::kEventWait, waits, Reads(x, 0, 4096));
    s.t.Launch(first, s.a);
    s.t.Launch(second, s.b);
    return Run("border-order", &s.t);
  };
  CHECK(found(true, true).empty());
  CHECK(found(true, false).size() == 1);
  CHECK(found(false, true).size() == 1);
}

TEST_CASE("border-order: two pieces of work on memory that a launched graph uses") {
  const auto found = [](bool used, bool ordered, bool later) {
    Border s;
    const BlockId other = s.t.Alloc({}, 4096), x = used ? s.x : other;
    const StreamId side = s.t.Stream();
    if (later) s.t.Launch(s.exec, s.b), s.t.Synchronize();
    s.t.Work(s.a, NodeKind::kMemset, {Writes(x, 0, 4096)});
    if (ordered) s.t.Order(s.a, side);
    s.t.Work(side, kSum, {Reads(x), Touches(other)});
    s.t.Synchronize();
    s.t.Launch(s.exec, s.b);
    return Run("border-order", &s.t);
  };
  const std::vector<Finding> findings = found(true, false, true);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].graph == GraphId(0u));
  CHECK(findings[0].message ==
        "a memset on stream 0 'a' writes block 0 (4 KiB), Sum on stream 2 reads it, and nothing "
        "orders the two");
  CHECK(findings[0].evidence.at(2).text == "node 0 (memcpy) of graph 0 uses the same memory");
  CHECK(found(true, true, true).empty());
  CHECK(found(false, false, true).empty());  // memory of no graph
  CHECK(found(true, false, false).empty());  // what was before isn't all recorded
}

constexpr Address kMapped = 0x5000'0000'0000;
constexpr Bytes kPage = 2 << 20;

// A graph reads a mapping; `remap` unmaps it and maps memory there, then work writes the mapping
// that it returns, and the graph is launched.
template <typename Remap>
size_t FoundAfterRemap(Remap remap, bool ordered = false) {
  TwoStreams s;
  const BlockId x = s.t.Map(kMapped, kPage);
  const BlockId y = s.t.Alloc({}, 4096);
  const GraphId graph = s.t.BeginCapture(s.b);
  s.t.Memcpy(s.b, {Writes(y, 0, 4096), Reads(x, 1024, 4096)});
  s.t.EndCapture(s.b);
  const ExecId exec = s.t.Instantiate(graph);
  s.t.Launch(exec, s.b);
  s.t.Synchronize();
  const BlockId written = remap(s.t, x);
  s.t.Work(s.a, NodeKind::kMemset, {Writes(written, 0, 8192)});
  if (ordered) s.t.Order(s.a, s.b);
  s.t.Launch(exec, s.b);
  return Run("border-order", &s.t).size();
}

TEST_CASE("border-order compares what is mapped at the addresses of nodes when they run") {
  const auto remapped = [](bool same) {
    return [same](TraceBuilder& t, BlockId x) {
      t.Free(x);
      return t.Map(kMapped, kPage, same ? x : BlockId());
    };
  };
  for (const bool same : {true, false}) {
    CHECK(FoundAfterRemap(remapped(same)) == 1);
    CHECK(FoundAfterRemap(remapped(same), true) == 0);
  }
  // The same memory, at another address: the graph still has the first.
  CHECK(FoundAfterRemap(
            [](TraceBuilder& t, BlockId x) { return t.Map(kMapped + 2 * kPage, kPage, x); }) == 1);
  // Other memory, at another address.
  CHECK(FoundAfterRemap(
            [](TraceBuilder& t, BlockId) { return t.Map(kMapped + 2 * kPage, kPage); }) == 0);
  // The memory that was there went elsewhere, and other memory came.
  CHECK(FoundAfterRemap([](TraceBuilder& t, BlockId x) {
          t.Free(x);
          t.Map(kMapped, kPage);
          return t.Map(kMapped + 2 * kPage, kPage, x);
        }) == 0);
  // Smaller mappings: the graph's bytes begin in the first one.
  CHECK(FoundAfterRemap([](TraceBuilder& t, BlockId x) {
          t.Free(x);
          t.Map(kMapped, 4096);
          return t.Map(kMapped + 4096, kPage - 4096);
        }) == 1);
}

TEST_CASE("border-order judges neither nodes that vary nor graphs that signal others") {
  {
    Border s;
    s.t.Launch(s.exec, s.b);
    s.t.Change(s.t.last_node(), s.exec, NodeChangeKind::kParams, {Reads(s.y, 0, 64)});
    s.t.Launch(s.exec, s.b);
    s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
    CHECK(s.Found().empty());
  }
  Border s;
  const GraphId second = s.t.BeginCapture(s.b);
  s.t.Capture(s.b, NodeKind::kExternalSemaphoreSignal);
  s.t.EndCapture(s.b);
  const ExecId signals = s.t.Instantiate(second);
  s.t.Work(s.a, NodeKind::kMemset, {Writes(s.x, 0, 4096)});
  s.t.Launch(s.exec, s.b);
  s.t.Launch(signals, s.b);
  CHECK(s.Found().empty());
}

// Whether any two, after the first launch or of which one is a launch, have bytes in common that a
// launched graph uses, one writes, and neither is before the other.
// Launches of one exec come after each other.
bool AnyRace(const Ran& trace, const std::vector<Access>& of_graphs) {
  const LaunchOrder order(trace);
  const std::vector<Submission> all = AllSubmissions(trace);
  std::vector<std::vector<bool>> before(all.size(), std::vector<bool>(all.size()));
  const auto exec_of = [&](Submission at) { return trace.launches[at.index].exec; };
  for (size_t b = 0; b < all.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const bool launches = !all[a].work && !all[b].work;
      before[a][b] =
          order.Before(all[a], all[b]) || (launches && exec_of(all[a]) == exec_of(all[b]));
    }
  }
  for (size_t via = 0; via < all.size(); ++via) {
    for (size_t a = 0; a < via; ++a) {
      for (size_t b = via + 1; b < all.size(); ++b)
        before[a][b] = before[a][b] || (before[a][via] && before[via][b]);
    }
  }
  const auto access_of = [&](Submission at) {
    return at.work ? Access(trace.accesses[trace.works[at.index].accesses.first])
                   : of_graphs[trace.launches[at.index].exec.index()];
  };
  for (size_t b = 1; b < all.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const Access x = access_of(all[a]), y = access_of(all[b]);
      if (all[a].work && all[b].work) {
        const auto shares = [&](Submission at) {
          const Bytes begin = std::max(x.offset, y.offset);
          const Bytes end = std::min(x.offset + x.length, y.offset + y.length);
          return !at.work && begin < end &&
                 Overlap(access_of(at), Reads(x.block, begin, end - begin)) == Ternary::kYes;
        };
        const bool launched =
            std::any_of(all.begin(), all.begin() + a, [](Submission at) { return !at.work; });
        if (!launched || std::ranges::none_of(all, shares)) continue;
      }
      if (x.mode == AccessMode::kRead && y.mode == AccessMode::kRead) continue;
      const bool launches = !all[a].work && !all[b].work;
      if (launches && (x == y || (x.mode == y.mode))) continue;  // one graph, or shared-workspace
      if (Overlap(x, y) == Ternary::kYes && !before[a][b]) return true;
    }
  }
  return false;
}

TEST_CASE("border-order finds what a comparison of all pairs finds") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  size_t races = 0;
  for (int round = 0; round < RandomRounds(200); ++round) {
    CAPTURE(round);
    TraceBuilder t;
    const BlockId block = t.Alloc({}, 4096);
    const auto access = [&] {
      return Access{block, below(2) == 0 ? AccessMode::kWrite : AccessMode::kRead, 512 * below(7),
                    512 + 512 * below(2)};
    };
    const std::vector<StreamId> streams = {t.Stream(), t.Stream(),
                                           t.Stream("", StreamKind::kLegacyDefault)};
    std::vector<Access> of_graphs;
    for (size_t i = 0; i < 3; ++i) {
      Access own = access();
      while (std::ranges::count(of_graphs, own) > 0) own = access();
      of_graphs.push_back(own);
      const GraphId graph = t.BeginCapture(streams[0]);
      t.Memset(streams[0], {of_graphs.back()});
      t.EndCapture(streams[0]);
      t.Instantiate(graph);
    }
    for (int i = 0; i < 12; ++i) {
      const StreamId stream = streams[below(3)];
      switch (below(6)) {
        case 0:
          t.Launch(ExecId(below(3)), stream);
          break;
        case 1:
          t.Work(stream, NodeKind::kMemset, {access()});
          break;
        case 2:
          t.Synchronize(stream);
          break;
        default:
          t.Order(stream, streams[below(3)]);
      }
    }
    Ran trace = t.Build();
    trace.streams[0].non_blocking = below(2) == 0;
    const bool race = AnyRace(trace, of_graphs);
    races += race;
    CHECK(Run("border-order", trace).empty() == !race);
  }
  CHECK(races > 10);
}

}  // namespace
}  // namespace graphkit
