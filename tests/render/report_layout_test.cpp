#include "libgraphkit/render/report/layout.h"

#include <doctest/doctest.h>

#include <sstream>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/render/report/html.h"
#include "tests/build_trace.h"
#include "tests/generate/synth.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

Ran Sample(const std::string& name) {
  return *ReadRan(std::string(GRAPHKIT_TESTDATA) + "/traces/soft/" + name + ".json");
}

TEST_CASE("a node takes four quarters, an allocation and a free one each") {
  const Ran trace = Sample("training_step");
  const Facts facts(trace);
  const ReportView view = LayOutReport(facts, nullptr).front();
  CHECK(view.nodes.size() == 14);
  CHECK(view.blocks.size() == 9);
  CHECK(view.width == 14 * 4 + 9 * 2);
  for (const BlockPlace& block : view.blocks) {
    CHECK(block.begin < block.freed);
    CHECK(block.freed <= block.end);
  }
}

TEST_CASE("what is drawn of the memory is as high as the recorded extent") {
  for (const char* name :
       {"record_stream", "training_step", "fork_join", "programmatic", "leaky"}) {
    CAPTURE(name);
    const Ran trace = Sample(name);
    const Facts facts(trace);
    for (const ReportView& view : LayOutReport(facts, nullptr)) {
      if (view.root) CHECK(view.extent == facts.usage()[view.root.index()].extent);
    }
  }
}

TEST_CASE("a synthetic capture is as high as its extent, under a policy too") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const Ran trace =
        Synthesize({.ops = 500, .streams = 3, .alloc = .4, .free = .2, .graphs = 2, .seed = seed});
    const Facts facts(trace);
    const PolicyReplay policy = ReplayTrace(facts, PolicyKind::kPyTorch);
    for (const ReportView& view : LayOutReport(facts, &policy)) {
      if (!view.root) continue;
      CHECK(view.extent == facts.usage()[view.root.index()].extent);
      CHECK(view.policy_extent == policy.graphs[view.root.index()].figures.peak_extent);
      CHECK(view.policy.size() == view.blocks.size());
    }
  }
}

TEST_CASE(
    "a trace of one graph with all of its memory has one view, others one more for the whole") {
  const Ran alone = Synthesize({.ops = 100});
  CHECK(LayOutReport(Facts(alone), nullptr).size() == 1);
  const Ran two = Synthesize({.ops = 100, .graphs = 2});
  const std::vector<ReportView> views = LayOutReport(Facts(two), nullptr);
  REQUIRE(views.size() == 3);
  CHECK(views[0].root == GraphId(0u));
  CHECK(views[1].root == GraphId(1u));
  CHECK(!views[2].root);
  CHECK(views[2].nodes.size() == views[0].nodes.size() + views[1].nodes.size());
}

TEST_CASE("the lanes of embedded graphs are below those of the graph that holds them") {
  const Ran trace = Sample("explicit_graph");
  const ReportView view = LayOutReport(Facts(trace), nullptr).front();
  bool embedded = false;
  for (const ReportLane& lane : view.lanes) {
    if (lane.graph != view.root) embedded = true;
    if (embedded) CHECK(lane.graph != view.root);
  }
  CHECK(embedded);
}

TEST_CASE("gaps between addresses are left out, segments keep their inside") {
  Ran trace;
  trace.pools.resize(1);
  trace.segments = {{.address = 0x10000, .size = 0x10000, .pool = PoolId(0u)}};
  trace.blocks.resize(4);
  const auto set = [&](size_t i, Address address, SegmentId segment) {
    trace.blocks.Set(i,
                     {.address = address, .size = 0x1000, .pool = PoolId(0u), .segment = segment});
  };
  set(0, 0x14000, SegmentId(0u));
  set(1, 0x10000, SegmentId(0u));
  set(2, 0x900000, {});
  set(3, 0x901000, {});
  const std::vector<BlockId> all = {BlockId(0u), BlockId(1u), BlockId(2u), BlockId(3u)};
  const CompactMemory memory = CompactAddresses(trace, all, false);
  CHECK(memory.offsets == std::vector<Bytes>{0x4000, 0, 0x5000, 0x6000});
  CHECK(memory.extent == 0x7000);
  CHECK(memory.bands == std::vector<MemoryBand>{{PoolId(0u), SegmentId(0u), 0, 0x5000},
                                                {PoolId(0u), {}, 0x5000, 0x2000}});
  const CompactMemory whole = CompactAddresses(trace, all, true);
  CHECK(whole.offsets == std::vector<Bytes>{0x4000, 0, 0x10000, 0x11000});
  CHECK(whole.bands == std::vector<MemoryBand>{{PoolId(0u), SegmentId(0u), 0, 0x10000},
                                               {PoolId(0u), {}, 0x10000, 0x2000}});
}

TEST_CASE("the page holds nothing of the trace but compressed data") {
  Ran trace = Sample("record_stream");
  trace.process.program = "</script><b>program</b>";
  for (Kernel& kernel : trace.kernels)
    kernel.name = trace.strings.Intern("</script>\xff\"kernel\n");
  const Result<Report> report = Analyze(trace);
  const Facts facts(trace);
  std::ostringstream out;
  RenderReportHtml({facts, *report, nullptr, "</script>trace.json"}, out);
  const std::string page = out.str();
  CHECK(page.find("program</b>") == std::string::npos);
  CHECK(page.find("trace.json</") == std::string::npos);
  CHECK(page.find("{{") == std::string::npos);
  const auto ends = [&](const std::string& text) {
    size_t count = 0;
    for (size_t at = 0; (at = page.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(ends("</script>") == 2);
  CHECK(ends("<script") == 2);
}

}  // namespace
}  // namespace graphkit
