#include "libgraphkit/analysis/analyze.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libgraphkit/analysis/checks/checks.h"
#include "tests/analysis/pieces.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = 1 << 20;

// The record_stream story: layer i computes h_i (12 MiB) with 4 MiB of scratch on main, and the
// side stream exchanges h_i while main goes on. Main waits for an exchange one layer later and lets
// go of h_{i-1} then.
Ran RecordStreamStory() {
  TraceBuilder t;
  const StreamId main = t.Stream("main");
  const StreamId side = t.Stream("side");
  t.BeginCapture(main, "layers");
  std::vector<BlockId> h;
  std::vector<EventId> exchanged;
  BlockId scratch;
  for (size_t i = 0; i < 6; ++i) {
    if (i >= 2) t.Wait(main, exchanged[i - 2]);
    h.push_back(t.Alloc(main, 12 * kMiB));
    scratch =
        i == 0 ? t.Alloc(main, 4 * kMiB) : t.AllocAt(main, 4 * kMiB, t.trace()[scratch].address);
    if (i == 0) {
      t.Kernel(main, "Forward", {Writes(h[i]), Writes(scratch)});
    } else {
      t.Kernel(main, "Forward", {Reads(h[i - 1]), Writes(h[i]), Writes(scratch)});
    }
    t.Free(scratch);
    t.Order(main, side);
    t.Kernel(side, "Exchange", {ReadsWrites(h[i])});
    t.RecordStream(h[i], side);
    exchanged.push_back(t.Event());
    t.Record(exchanged.back(), side);
    if (i >= 1) t.RequestFree(h[i - 1]);
  }
  t.Wait(main, exchanged[4]);
  t.Wait(main, exchanged[5]);
  t.Kernel(main, "Reduce", {Reads(h[5])});
  t.RequestFree(h[5]);
  t.EndCapture(main);
  for (const BlockId block : h) t.CompleteFree(block);
  Ran trace = t.Build();
  for (Kernel& kernel : trace.kernels) kernel.has_layout = true;
  return trace;
}

TEST_CASE("a graph is destroyed when its execs and blocks are gone and others are captured") {
  TraceBuilder t;
  const StreamId s = t.Stream();
  std::vector<ExecId> execs;
  std::vector<BlockId> outputs;
  for (const char* name : {"measured", "output kept", "another exec", "last"}) {
    const GraphId graph = t.BeginCapture(s, name);
    outputs.push_back(t.Alloc(s, kMiB));
    t.Kernel(s, "k", {Writes(outputs.back())});
    t.EndCapture(s);
    execs.push_back(t.Instantiate(graph));
    if (std::string(name) == "another exec") t.Instantiate(graph);
    if (std::string(name) != "output kept") t.Free(outputs.back());
    t.Destroy(execs.back());
  }
  const Ran trace = t.Build();
  const Facts facts(trace);
  std::vector<bool> destroyed;
  for (const GraphSummary& graph : Summarize(facts)) destroyed.push_back(graph.destroyed);
  CHECK(destroyed == std::vector{true, false, false, false});
}

TEST_CASE("a capture's figures are those worked out by hand") {
  const Ran trace = RecordStreamStory();
  const Report report = *Analyze(trace);
  REQUIRE(report.graphs.size() == 1);
  const GraphSummary& graph = report.graphs[0];
  CHECK(graph.name == "layers");
  CHECK(graph.nodes == 13);
  CHECK(graph.nodes_by_type[static_cast<size_t>(NodeKind::kKernel)] == 13);
  CHECK(graph.edges == 23);
  CHECK(graph.cross_stream_edges == 12);
  CHECK(graph.critical_path_nodes == 8);
  CHECK(graph.streams == 2);
  CHECK(graph.blocks == 12);
  CHECK(graph.total_bytes == 96 * kMiB);
  CHECK(graph.peak_live_bytes == 28 * kMiB);
  CHECK(graph.deferred_bytes == 72 * kMiB);
  CHECK(graph.lower_bound_bytes == 28 * kMiB);
  CHECK(graph.lower_bound_exact);
  CHECK(graph.recorded_extent_bytes == 76 * kMiB);
  CHECK(graph.never_freed_bytes == 0);
  // Four of the six h_i can lie where an earlier one lay.
  CHECK(graph.reuse_bytes == 48 * kMiB);
  CHECK(graph.reuse.size() == 4);
}

TEST_CASE("the same capture's findings: what is deferred, and what could be reused") {
  const Ran trace = RecordStreamStory();
  const Report report = *Analyze(trace, {.checks = {"deferred-record-stream", "reuse-opportunity",
                                                    "unsafe-reuse", "block-leak"}});
  std::vector<std::pair<std::string, Bytes>> found;
  Bytes deferred = 0;
  for (const Finding& finding : report.findings) {
    if (finding.check == "deferred-record-stream") {
      deferred += finding.bytes;
    } else {
      found.emplace_back(finding.check, finding.bytes);
    }
  }
  CHECK(deferred == 72 * kMiB);
  CHECK(found == std::vector<std::pair<std::string, Bytes>>{{"reuse-opportunity", 48 * kMiB}});
}

TEST_CASE("an unknown check is refused, with the nearest one") {
  const Result<Report> report = Analyze(Ran(), {.checks = {"block-leek"}});
  REQUIRE_FALSE(report);
  CHECK(Describe(report.error()) == "unknown check 'block-leek'; did you mean 'block-leak'?");
}

TEST_CASE("min_bytes drops what is smaller, and keeps what isn't about bytes") {
  TraceBuilder t;
  t.Alloc({}, 512);
  t.Event();
  const Report report = *Analyze(t.Build(), {.min_bytes = 1024});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].check == "event-stream-leak");
}

// Block y can take x's memory only if the programmatic launch of `next` means that `use` has ended.
Ran ReuseBehindProgrammaticEdge(Ternary waits) {
  TraceBuilder t;
  const StreamId a = t.Stream("a");
  t.BeginCapture(a, "step");
  const BlockId x = AllocWritten(t, a, kMiB, "use");
  const KernelId next = t.Function("next", waits);
  t.ProgrammaticKernel(a, next, {});
  t.Free(x);
  AllocUsed(t, a, kMiB);
  t.EndCapture(a);
  Ran trace = t.Build();
  for (Kernel& kernel : trace.kernels) kernel.has_layout = true;
  return trace;
}

TEST_CASE("--edges pytorch takes programmatic edges for full ones, and says what isn't proved") {
  const Ran trace = ReuseBehindProgrammaticEdge(Ternary::kNo);
  const AnalyzeOptions strict{.checks = {"programmatic-only-order", "reuse-opportunity"}};
  AnalyzeOptions pytorch = strict;
  pytorch.edges = EdgeRule::kAllFull;
  CHECK(Analyze(trace, strict)->findings.empty());
  CHECK(Analyze(trace, strict)->graphs[0].lower_bound_bytes == 2 * kMiB);
  const Report report = *Analyze(trace, pytorch);
  CHECK(report.graphs[0].lower_bound_bytes == kMiB);
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].check == "programmatic-only-order");
  CHECK(report.findings[0].message ==
        "PyTorch's rule would reuse 1 MiB of graph 0 'step' behind programmatic edges, as if they "
        "meant that the work before has ended");
  CHECK(report.findings[0].bytes == kMiB);
  CHECK(report.findings[1].check == "reuse-opportunity");
}

TEST_CASE("--edges pytorch says nothing more where the consumer is known to wait") {
  const Ran trace = ReuseBehindProgrammaticEdge(Ternary::kYes);
  const Report report =
      *Analyze(trace, {.checks = {"programmatic-only-order"}, .edges = EdgeRule::kAllFull});
  CHECK(report.graphs[0].lower_bound_bytes == kMiB);
  CHECK(report.findings.empty());
}

// y lies where x lay, and nothing that was recorded orders them.
TEST_CASE("the bound of a memory history isn't above what was recorded") {
  TraceBuilder t;
  const StreamId a = t.Stream(), b = t.Stream();
  t.BeginCapture(a);
  t.Order(a, b);
  const BlockId x = t.Alloc(a, kMiB);
  t.Kernel(a, "k", {Touches(x)});
  t.Free(x);
  const BlockId y = t.AllocAt(b, kMiB, t.trace()[x].address);
  t.Kernel(b, "k", {Touches(y)});
  t.Order(b, a);
  t.EndCapture(a);
  Ran trace = t.Build();
  trace.process.device = DeviceKind::kCuda;
  CHECK(Analyze(trace)->graphs.at(0).lower_bound_bytes == 2 * kMiB);
  trace.process.device = DeviceKind::kImported;
  const GraphSummary graph = Analyze(trace)->graphs.at(0);
  CHECK(graph.lower_bound_bytes == kMiB);
  CHECK_FALSE(graph.lower_bound_exact);
  CHECK(graph.pools.at(0).lower_bound_bytes == kMiB);
}

TEST_CASE("an incomplete trace says why") {
  TraceBuilder t;
  t.Note("the clock stood still");
  Ran trace = t.Build();
  trace.completeness.truncated = true;
  trace.completeness.dropped_records = 1200;
  const Report report = *Analyze(trace);
  CHECK_FALSE(report.complete);
  CHECK(report.incomplete_because ==
        std::vector<std::string>{"it ends early (the program was killed, or the file was cut)",
                                 "the tracer dropped 1,200 records", "the clock stood still"});
}

TEST_CASE("findings come with the most severe first, then with what costs most, then by bytes") {
  for (const Check& check : AllChecks()) {
    if (!check.id.ends_with("-leak")) continue;
    CAPTURE(std::string(check.id));
    CHECK(check.harm == Harm::kLeak);
  }
  const auto finding = [](Severity severity, Harm harm, Bytes bytes) {
    return Finding{.severity = severity, .harm = harm, .message = "", .bytes = bytes};
  };
  const Finding in_order[] = {finding(Severity::kError, Harm::kLeak, 0),
                              finding(Severity::kWarning, Harm::kResults, 1),
                              finding(Severity::kWarning, Harm::kLeak, 9),
                              finding(Severity::kWarning, Harm::kLeak, 8),
                              finding(Severity::kWarning, Harm::kMemory, 99),
                              finding(Severity::kWarning, Harm::kStyle, 999),
                              finding(Severity::kNote, Harm::kResults, 0)};
  CHECK(std::ranges::is_sorted(in_order, ComesFirst));

  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Ran trace = RandomTrace(seed, {.max_steps = 60, .memory = true});
    const Report report = *Analyze(trace);
    CAPTURE(seed);
    REQUIRE(std::ranges::is_sorted(report.findings, ComesFirst));
    for (const GraphSummary& graph : report.graphs) {
      REQUIRE(graph.peak_live_bytes <= graph.total_bytes);
      REQUIRE(graph.lower_bound_bytes <= graph.total_bytes);
    }
  }
}

}  // namespace
}  // namespace graphkit
