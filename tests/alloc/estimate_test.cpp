#include "libgraphkit/alloc/estimate/estimate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libgraphkit/analysis/order/topology.h"
#include "tests/build_trace.h"
#include "tests/read_ran.h"

namespace graphkit {
namespace {

using Rule = BlockGrowth::Rule;
using Sizes = std::vector<uint64_t>;

Ran Load(const std::string& path) {
  Result<Ran> trace = ReadRan(GRAPHKIT_TESTDATA "/" + path);
  REQUIRE_MESSAGE(trace.has_value(), Describe(trace.error()));
  return std::move(*trace);
}

TEST_CASE("sizes are numbers and ranges with a step") {
  CHECK(*ParseSizes("4,1,2") == Sizes{1, 2, 4});
  CHECK(*ParseSizes("1,2,4,8-32:8") == Sizes{1, 2, 4, 8, 16, 24, 32});
  CHECK(*ParseSizes("3-5,4") == Sizes{3, 4, 5});
  CHECK(*ParseSizes("16-30:8") == Sizes{16, 24});
  for (const char* bad :
       {"", "0", "a", "1,", "5-3", "1-4:0", "1-2-3", "1:2", "1-4:2:2", "-1", "1-99999999999",
        "99999999999999999999", "1000000000001", "1-18446744073709551615:9223372036854775809"}) {
    CAPTURE(bad);
    CHECK(!ParseSizes(bad).has_value());
  }
}

TEST_CASE("a constant and a proportion are confirmed by two captures, a line by three") {
  CHECK(FitGrowth({{8, 4096}, {64, 4096}}).rule == Rule::kConstant);
  CHECK(FitGrowth({{8, 8000}, {64, 64000}}).rule == Rule::kProportional);
  CHECK(FitGrowth({{8, 1 << 20}, {64, 2 << 20}}).rule == Rule::kUnsure);
  CHECK(FitGrowth({{8, 100'800}, {16, 101'600}, {64, 106'400}}).rule == Rule::kLinear);
  CHECK(FitGrowth({{8, 4096}}).rule == Rule::kUnsure);
  CHECK(BytesAt(FitGrowth({{8, 8000}, {64, 64000}}), 16) == ByteRange{16000, 16000, 16000});
  CHECK(BytesAt(FitGrowth({{8, 100'800}, {16, 101'600}, {64, 106'400}}), 32) ==
        ByteRange{103'200, 103'200, 103'200});
}

TEST_CASE("what isn't confirmed lies between staying and growing with the size") {
  const BlockGrowth one = FitGrowth({{8, 8192}});
  CHECK(BytesAt(one, 8) == ByteRange{8192, 8192, 8192});
  CHECK(BytesAt(one, 32) == ByteRange{8192, 32768, 32768});
  CHECK(BytesAt(one, 2) == ByteRange{2048, 2048, 8192});
  const BlockGrowth odd = FitGrowth({{8, 8193}});  // not so many elements for each
  CHECK(BytesAt(odd, 16) == ByteRange{8193, 8193, 16386});
  const BlockGrowth two = FitGrowth({{8, 10'000}, {16, 12'000}});
  CHECK(BytesAt(two, 12) == ByteRange{10'000, 11'000, 12'000});
  CHECK(BytesAt(two, 32) == ByteRange{12'000, 16'000, 24'000});
}

TEST_CASE("a line through large sizes that lie close keeps its slope") {
  const uint64_t far = 1'000'000'000;
  const BlockGrowth line = FitGrowth({{far, 5000}, {far + 1, 15'000}, {far + 2, 25'000}});
  CHECK(line.rule == Rule::kLinear);
  CHECK(BytesAt(line, far + 3).bytes == 35'000);
}

TEST_CASE("a size beyond all memory is refused") {
  const Ran trace = Load("traces/soft/inference_server.json");
  const auto estimate = EstimateMemory(trace, {.sizes = {8, 1'000'000'000'000}});
  REQUIRE(!estimate.has_value());
  CHECK(Describe(estimate.error()).starts_with("size 1000000000000 would need more than any"));
}

TEST_CASE("the captures of one size are one round, in pieces too") {
  const Ran trace = Load("traces/soft/inference_server.json");
  const auto found = FindCapturedSizes(trace, FindRoots(trace), {});
  REQUIRE(found.has_value());
  CHECK(found->kinds == 1);
  CHECK(found->sizes_from == SizesFrom::kBlocks);
  Sizes sizes;
  for (const CapturedRound& round : found->rounds) sizes.push_back(round.size);
  CHECK(sizes == Sizes{1, 2, 4, 8});
  for (const BlockGrowth& growth : found->growth[0]) CHECK(growth.rule == Rule::kProportional);
}

TEST_CASE("a trace that doesn't say its sizes is refused, and what names them helps") {
  Ran trace = Load("traces/soft/inference_server.json");
  CHECK(!EstimateMemory(trace, {.sizes = {1}, .captured = {1, 2}}).has_value());
  trace.captures.resize(1);
  const auto unnamed = EstimateMemory(trace, {.sizes = {1}});
  REQUIRE(!unnamed.has_value());
  CHECK(Describe(unnamed.error()) ==
        "the trace doesn't say which size its graphs were captured for; name the sizes with "
        "--captured, as in --captured 8,64");
  CHECK(EstimateMemory(trace, {.sizes = {1}, .captured = {8}}).has_value());
  trace.captures.clear();
  CHECK(!EstimateMemory(trace, {.sizes = {1}, .captured = {8}}).has_value());
}

// A server: a graph for each size with two blocks, in one pool.
ExecId CaptureSize(TraceBuilder& builder, StreamId stream, uint64_t size, const std::string& name) {
  const GraphId graph = builder.BeginCapture(stream, name);
  const BlockId a = builder.Alloc(stream, size * 4096), b = builder.Alloc(stream, size * 8192);
  builder.Kernel(stream, "k", {{a, AccessMode::kWrite}, {b, AccessMode::kWrite}});
  builder.Free(a);
  builder.Free(b);
  builder.EndCapture(stream);
  return builder.Instantiate(graph);
}

TEST_CASE("captures that a server destroyed before it made them again don't count") {
  TraceBuilder builder;
  const StreamId stream = builder.Stream();
  builder.SetPool(builder.Pool(PoolKind::kAllocator));
  for (const uint64_t size : Sizes{8, 4}) builder.Destroy(CaptureSize(builder, stream, size, ""));
  for (const uint64_t size : Sizes{8, 4, 2}) CaptureSize(builder, stream, size, "");
  const Ran trace = builder.Build();
  const auto estimate = EstimateMemory(trace, {.sizes = {8, 4, 2}, .captured = {2, 4, 8}});
  REQUIRE(estimate.has_value());
  REQUIRE(estimate->kinds.size() == 1);
  CHECK(estimate->kinds[0].graphs == 3);
  for (const EstimatedSize& size : estimate->sizes) CHECK(size.graphs == 1);
  CHECK(estimate->notes ==
        std::vector<std::string>{"destroyed and made again, not counted: 2 captures"});
}

TEST_CASE("workspaces on the captures' streams are named, and part of the sum") {
  TraceBuilder t;
  const StackId handle = t.Stack({{"at::cuda::getCurrentCUDABlasHandle()", "libtorch_cuda.so"}});
  const StreamId s = t.Stream(), other = t.Stream();
  const BlockId freed = t.Alloc(s, 4 << 20), kept = t.Alloc(s, 32 << 20),
                elsewhere = t.Alloc(other, 32 << 20), line = t.Alloc(s, 2 << 20);
  t.Free(freed);
  t.SetPool(t.Pool(PoolKind::kPrivate));
  for (const Bytes size : {Bytes{8}, Bytes{4}}) {
    const GraphId graph = t.BeginCapture(s);
    const BlockId block = t.Alloc(s, size << 20);
    t.Kernel(s, "k", {Writes(block)});
    t.Free(block);
    t.EndCapture(s);
    t.Instantiate(graph);
  }
  Ran trace = t.Build();
  for (const BlockId block : {freed, kept, elsewhere}) {
    trace.blocks.Change(block.index(), [&](Block& b) { b.stack = handle; });
  }
  CHECK(trace[line].size == 2 << 20);
  const auto estimate = EstimateMemory(trace, {.sizes = {8}, .captured = {4, 8}});
  REQUIRE(estimate.has_value());
  CHECK(estimate->workspaces == std::map<std::string, Bytes>{{"cuBLAS workspace", 32 << 20}});
}

TEST_CASE("a size that was captured, measured and destroyed counts") {
  TraceBuilder builder;
  const StreamId stream = builder.Stream();
  builder.SetPool(builder.Pool(PoolKind::kAllocator));
  for (const uint64_t size : Sizes{8, 4, 2})
    builder.Destroy(CaptureSize(builder, stream, size, ""));
  const Ran ran = builder.Build();
  const auto found = FindCapturedSizes(ran, FindRoots(ran), {});
  REQUIRE(found.has_value());
  CHECK(found->rounds.size() == 3);
  CHECK(found->given_up == 0);
}

TEST_CASE("the sizes of graphs that have names are in these") {
  TraceBuilder builder;
  const StreamId stream = builder.Stream();
  builder.SetPool(builder.Pool(PoolKind::kAllocator));
  for (const uint64_t size : Sizes{24, 16}) {
    const std::string tokens = std::to_string(size) + " tokens";
    CaptureSize(builder, stream, 1, "piecewise, " + tokens);  // its blocks don't show the size
    CaptureSize(builder, stream, size, "full, " + tokens + ", 2 requests");
  }
  const Ran ran = builder.Build();
  const auto found = FindCapturedSizes(ran, FindRoots(ran), {});
  REQUIRE(found.has_value());
  CHECK(found->sizes_from == SizesFrom::kNames);
  CHECK(Sizes{found->rounds[0].size, found->rounds[1].size} == Sizes{16, 24});
  CHECK(found->rounds[0].graphs.size() == 2);
}

// Leaving one captured size out: what the others say of it is held against what was reserved.

struct Server {
  const char* file;
  Sizes captured;
  bool one_pool;
};

const Server kServers[] = {
    {"traces/soft/inference_server.json", {1, 2, 4, 8}, true},
    {"torch-scenarios/server_pools.json.zst", {128, 256, 512, 1024}, false},
    {"torch-scenarios/server_pools.fixed.json.zst", {128, 256, 512, 1024}, true},
    {"torch-traces/resnet.json.zst", {1, 4, 8, 16}, true},
};

std::set<PoolId> PoolsOf(const Ran& trace, GraphId graph) {
  std::set<PoolId> pools;
  for (const Block& block : trace.blocks) {
    if (block.graph == graph && block.segment) pools.insert(trace[block.segment].pool);
  }
  return pools;
}

Bytes Reserved(const Ran& trace, const std::set<PoolId>& pools) {
  Bytes bytes = 0;
  for (const Segment& segment : trace.segments) {
    if (pools.contains(segment.pool)) bytes += segment.size;
  }
  return bytes;
}

// Without the captures of these sizes.
Ran Without(const Ran& trace, const CapturedSizes& all, const Sizes& left_out) {
  Ran rest = trace;
  std::set<GraphId> gone;
  for (const CapturedGraph& graph : all.graphs) {
    if (std::ranges::count(left_out, graph.size) > 0) gone.insert(graph.graph);
  }
  std::erase_if(rest.captures, [&](const Capture& c) { return gone.contains(c.graph); });
  return rest;
}

bool Holds(const ByteRange& range, Bytes bytes) {
  return range.low <= range.bytes && range.bytes <= range.high && range.low <= bytes &&
         bytes <= range.high;
}

// Estimates all sizes from those that are kept.
void CheckAgainstTrace(const Server& server, const Sizes& left_out) {
  const Ran trace = Load(server.file);
  const auto all = FindCapturedSizes(trace, FindRoots(trace), server.captured);
  REQUIRE(all.has_value());
  Sizes kept;
  std::ranges::copy_if(server.captured, std::back_inserter(kept),
                       [&](uint64_t size) { return std::ranges::count(left_out, size) == 0; });
  const auto estimate =
      EstimateMemory(Without(trace, *all, left_out), {.sizes = server.captured, .captured = kept});
  REQUIRE_MESSAGE(estimate.has_value(), Describe(estimate.error()));
  std::set<PoolId> pools;
  for (const CapturedGraph& graph : all->graphs) {
    const std::set<PoolId> own = PoolsOf(trace, graph.graph);
    pools.insert(own.begin(), own.end());
    if (server.one_pool) continue;
    const auto size = std::ranges::find(estimate->sizes, graph.size, &EstimatedSize::size);
    REQUIRE(size != estimate->sizes.end());
    CAPTURE(graph.size);
    CAPTURE(size->own_pools.low);
    CAPTURE(size->own_pools.high);
    CHECK(Holds(size->own_pools, Reserved(trace, own)));
  }
  const ByteRange sum = server.one_pool ? estimate->shared_pool : estimate->own_pools;
  CAPTURE(sum.low);
  CAPTURE(sum.bytes);
  CAPTURE(sum.high);
  CAPTURE(Reserved(trace, pools));
  CHECK(Holds(sum, Reserved(trace, pools)));
}

TEST_CASE("what a trace reserved is estimated exactly when no size is left out") {
  for (const Server& server : kServers) {
    CAPTURE(server.file);
    const Ran trace = Load(server.file);
    const auto all = EstimateMemory(trace, {.sizes = server.captured, .captured = server.captured});
    REQUIRE(all.has_value());
    const ByteRange sum = server.one_pool ? all->shared_pool : all->own_pools;
    CHECK(sum.low == sum.high);
    CheckAgainstTrace(server, {});
  }
}

TEST_CASE("a size that is left out lies within the interval of its estimate") {
  for (const Server& server : kServers) {
    for (const uint64_t size : server.captured) {
      CAPTURE(server.file);
      CAPTURE(size);
      CheckAgainstTrace(server, {size});
    }
  }
}

TEST_CASE("all sizes but one, or but two, lie within the interval of their estimate") {
  for (const Server& server : kServers) {
    for (size_t i = 0; i < server.captured.size(); ++i) {
      for (size_t j = i; j < server.captured.size(); ++j) {
        Sizes left_out;
        for (size_t k = 0; k < server.captured.size(); ++k) {
          if (k != i && k != j) left_out.push_back(server.captured[k]);
        }
        CAPTURE(server.file);
        CAPTURE(server.captured[i]);
        CAPTURE(server.captured[j]);
        CheckAgainstTrace(server, left_out);
      }
    }
  }
}

}  // namespace
}  // namespace graphkit
