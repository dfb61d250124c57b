#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "libgraphkit/render/analyze/text.h"
#include "libgraphkit/render/text_layout.h"
#include "tests/build_trace.h"
#include "tests/render/sample_report.h"

namespace graphkit {

namespace {

std::string Text(const Report& report, const TextStyle& style = {}) {
  std::ostringstream out;
  RenderText(report, SampleTrace(), {style, out});
  return out.str();
}

}  // namespace

TEST_CASE("a report reads from the program down to what to change in it") {
  CHECK(Text(SampleReport()) ==
        R"(build/workloads/fork_join, recorded on the software device (simulated)
1 graph, 3 nodes, 3 edges, 2 blocks, 2 launches
Peak in use: 5 MiB (record 0), in 2 blocks; 5 MiB at the end
1 of 4 captured blocks with stream, line, first and last node; without a stack: 1, with frames of
libraries only: 1 and touched by no node: 1

Findings: 1 error

step.cu:42: error: block 1 of 1 MiB is never freed [never-freed-block]
  - allocated in the capture (step.cu:42 step)
  → free it on its stream before the capture ends, or allocate it outside

graph 0 "step", captured on 2 streams
  nodes      3: 2 kernel, 1 memcpy; the longest path has 3 nodes
  edges      3: 1 programmatic and 2 between streams
  memory     2 blocks, 5 MiB in all
               peak live    5 MiB
               deferred     1 MiB
               never freed  1 MiB  1 block
               lower bound  4 MiB  theoretical minimum (proved; a plan fits)
  reuse      1 MiB could share memory with earlier blocks
             - 1 MiB: block 1 (1 MiB, step.cu:42 step) where block 0 (4 MiB) lay, if no stream uses
               the block after its free unless record_stream() named it
)");
}

TEST_CASE("a plan has a line of its own where it needs more than the bound") {
  Report report = SampleReport();
  report.graphs[0].plan_bytes = 5 << 20;
  const std::string text = Text(report);
  CHECK(text.substr(text.find("               lower"),
                    text.find("  reuse") - text.find("               lower")) ==
        R"(               lower bound  4 MiB  theoretical minimum (proved)
               plan         5 MiB  one that is safe
)");
  report.graphs[0].plan_bytes.reset();
  CHECK(Text(report).find("theoretical minimum (proved)\n") != std::string::npos);
  CHECK(Text(report).find("plan ") == std::string::npos);
}

TEST_CASE("an incomplete trace says so before any figure") {
  Report report = SampleReport();
  report.complete = false;
  report.incomplete_because = {"the trace ends before the program did"};
  report.graphs.clear();
  report.findings.clear();
  report.groups.clear();
  CHECK(Text(report) == R"(build/workloads/fork_join, recorded on the software device (simulated)
1 graph, 3 nodes, 3 edges, 2 blocks, 2 launches
Peak in use: 5 MiB (record 0), in 2 blocks; 5 MiB at the end
1 of 4 captured blocks with stream, line, first and last node; without a stack: 1, with frames of
libraries only: 1 and touched by no node: 1

Incomplete: what follows holds for the part that was recorded.
  - the trace ends before the program did

No findings.
)");
}

TEST_CASE("what was changed for later launches is counted") {
  Ran trace = SampleTrace();
  trace.exec_updates.resize(1);
  trace.node_changes = {{.what = NodeChangeKind::kParams},
                        {.what = NodeChangeKind::kDisabled},
                        {.what = NodeChangeKind::kEnabled}};
  std::ostringstream out;
  RenderText(SampleReport(), trace, {{.width = 200}, out});
  CHECK(
      out.str().find("2 launches, 1 exec update, 1 node parameter change, 2 switches of nodes\n") !=
      std::string::npos);
}

TEST_CASE("no line is wider than the style, and names can't add lines") {
  Report report = SampleReport();
  report.graphs[0].name = "a\nb\x1b[2J";
  report.findings[0].message = std::string(50, 'x') + " " + std::string(50, 'y');
  std::istringstream lines(Text(report, {.width = 80}));
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.find('\x1b') == std::string::npos);
    CHECK(DisplayWidth(line) <= 80);
  }
}

TEST_CASE("a list longer than the limit ends with what was left out") {
  Report report = SampleReport();
  report.graphs[0].reuse.assign(5, report.graphs[0].reuse[0]);
  CHECK(Text(report, {.top = 2}).find("and 3 smaller pairs; --top 0 shows all") !=
        std::string::npos);
}

TEST_CASE("pairs of one size and the same lines are told once") {
  TraceBuilder t;
  t.SetStack(t.Stack({{"step", "train.py", 7}}));
  for (int i = 0; i < 4; ++i) t.Alloc({}, 512);
  t.Alloc({}, 4096);
  const Ran trace = t.Build();
  Report report = SampleReport();
  report.graphs[0].reuse.clear();
  for (const uint32_t later : {4u, 1u, 2u, 3u}) {
    report.graphs[0].reuse.push_back({BlockId(0u), BlockId(later), 512, Assumption::kOrder});
  }
  std::ostringstream text;
  RenderText(report, trace, {{.width = 300}, text});
  CHECK(text.str().find("- 512 B: block 4 (4 KiB, train.py:7 step)") != std::string::npos);
  CHECK(text.str().find("block 0 (512 B, train.py:7 step) lay, and 2 pairs of the same size and "
                        "lines\n") != std::string::npos);
  CHECK(text.str().find("block 2") == std::string::npos);
}

TEST_CASE("many graphs are a table of the heaviest") {
  Report report = SampleReport();
  report.findings.clear();
  report.groups.clear();
  report.graphs.resize(12, report.graphs[0]);
  for (uint32_t i = 0; i < 12; ++i) {
    report.graphs[i].graph = GraphId(i);
    report.graphs[i].total_bytes = i;
  }
  CHECK(Text(report, {.top = 2}) ==
        R"(build/workloads/fork_join, recorded on the software device (simulated)
1 graph, 3 nodes, 3 edges, 2 blocks, 2 launches
Peak in use: 5 MiB (record 0), in 2 blocks; 5 MiB at the end
1 of 4 captured blocks with stream, line, first and last node; without a stack: 1, with frames of
libraries only: 1 and touched by no node: 1

No findings.

graph  name  nodes  edges  streams  blocks  peak live  deferred  lower bound  reuse
   11  step      3      3        2       2      5 MiB     1 MiB        4 MiB  1 MiB
   10  step      3      3        2       2      5 MiB     1 MiB        4 MiB  1 MiB
and 10 graphs with fewer bytes; --top 0 shows all
)");
}

TEST_CASE("graphs that read the same are one entry, with the widest range of addresses") {
  Report report = SampleReport();
  report.findings.clear();
  report.groups.clear();
  report.graphs.resize(5, report.graphs[0]);
  for (uint32_t i = 0; i < 5; ++i) {
    report.graphs[i].graph = GraphId(i);
    report.graphs[i].recorded_extent_bytes = (i == 3 ? 7 : 6) << 20;
  }
  report.graphs[2].nodes_by_type[0] += 1;
  report.graphs[4].name = "decode";
  const std::string text = Text(report, {.width = 120, .top = 1});
  CHECK(text.find("graph 0 \"step\", captured on 2 streams\n  graphs 1 and 1 more are like it\n") !=
        std::string::npos);
  CHECK(text.find("address range  6 MiB  as recorded; 7 MiB in graph 3\n") != std::string::npos);
  CHECK(text.ends_with("\nand 2 graphs with fewer bytes; --top 0 shows all\n"));
  const std::string all = Text(report, {.top = 0});
  CHECK(all.find("  graphs 1 and 3 are like it\n") != std::string::npos);
  CHECK(all.find("graph 2 \"step\"") != std::string::npos);
  CHECK(all.find("graph 4 \"decode\"") != std::string::npos);
}

TEST_CASE("a table of graphs counts those that are alike") {
  Report report = SampleReport();
  report.findings.clear();
  report.groups.clear();
  report.graphs.resize(30, report.graphs[0]);
  for (uint32_t i = 0; i < 30; ++i) {
    report.graphs[i].graph = GraphId(i);
    report.graphs[i].total_bytes = i % 10;
  }
  const std::string text = Text(report, {.top = 2});
  CHECK(
      text.substr(text.find("graph  alike")) ==
      R"(graph  alike  name  nodes  edges  streams  blocks  peak live  deferred  lower bound  reuse
    9     ×3  step      3      3        2       2      5 MiB     1 MiB        4 MiB  1 MiB
    8     ×3  step      3      3        2       2      5 MiB     1 MiB        4 MiB  1 MiB
and 24 graphs with fewer bytes; --top 0 shows all
)");
}

TEST_CASE("findings of one check stand together: the first row in full, the others in a line") {
  Report report = SampleReport();
  report.findings.resize(4, report.findings[0]);
  report.findings[1].message = "block 7 of 512 KiB is never freed";
  report.findings[1].places[0].line.line = 50;
  report.findings[3].message = "block 9 of 4 KiB is never freed";
  report.findings[3].places[0].line.line = 60;
  report.findings.push_back({.check = "other", .severity = Severity::kNote, .message = "so it is"});
  report.groups = GroupFindings(report.findings);
  const std::string text = Text(report, {.top = 1});
  CHECK(text.substr(text.find("Findings"), text.find("\ngraph 0") - text.find("Findings")) ==
        R"(Findings: 4 errors and 1 note

step.cu:42: error: block 1 of 1 MiB is never freed [never-freed-block] (×2)
  - allocated in the capture (step.cu:42 step)
  and in 2 other places:
  - step.cu:50: block 7 of 512 KiB is never freed
  - and 1 more; --top 0 shows all
  → free it on its stream before the capture ends, or allocate it outside

note: so it is [other]
)");
  const std::string all = Text(report, {.top = 0});
  CHECK(
      all.find("  - step.cu:60: block 9 of 4 KiB is never freed\n      - allocated in the capture "
               "(step.cu:42 step)\n") != std::string::npos);
}

TEST_CASE("a graph with several pools has a line for each") {
  Report report = SampleReport();
  report.graphs[0].pools = {{.pool = PoolId(0u),
                             .blocks = 1,
                             .total_bytes = 4 << 20,
                             .peak_live_bytes = 4 << 20,
                             .lower_bound_bytes = 4 << 20,
                             .lower_bound_exact = true},
                            {.blocks = 1,
                             .total_bytes = 1 << 20,
                             .peak_live_bytes = 1 << 20,
                             .lower_bound_bytes = 1 << 20}};
  const std::string text = Text(report);
  CHECK(text.substr(text.find("  pools"), text.find("  reuse") - text.find("  pools")) ==
        R"(  pools
               pool                     blocks  in all  peak live     lower bound
               pool 0 (stream-ordered)       1   4 MiB      4 MiB           4 MiB
               no pool                       1   1 MiB      1 MiB  at least 1 MiB
)");
}

}  // namespace graphkit
