#include "libgraphkit/analysis/memory/exec_memory.h"

#include <doctest/doctest.h>

#include <random>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/order/topology.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Bytes kKiB = 1024;

ExecMemory MemoryOf(const Ran& trace) {
  const auto memory = FindExecMemory(trace, FindRoots(trace));
  REQUIRE(memory.has_value());
  return *memory;
}

GraphId Chain(TraceBuilder& b, StreamId stream, int kernels, int copies) {
  const GraphId graph = b.BeginCapture(stream);
  for (int i = 0; i < kernels; ++i) b.Kernel(stream);
  for (int i = 0; i < copies; ++i) b.Memcpy(stream);
  b.EndCapture(stream);
  return graph;
}

TEST_CASE("the table's intervals hold its figures, of old and new drivers") {
  for (const int version : {0, 11080, 12030, 12040, 13000, 13030}) {
    for (const ByteRange& part : PublishedExecModel(version).parts) {
      CHECK(part.low <= part.bytes);
      CHECK(part.bytes <= part.high);
    }
  }
  CHECK(PublishedExecModel(12030).parts[1].bytes > PublishedExecModel(12040).parts[1].bytes);
  CHECK(PublishedExecModel(12090).parts[1].bytes > PublishedExecModel(13000).parts[1].bytes);
  CHECK(PublishedExecModel(13000) == PublishedExecModel(13030));
}

// docs/memory.md has the reports. A driver that a report doesn't name counts as unknown.
TEST_CASE("the table's intervals hold what is reported of whole programs") {
  constexpr double kMiB = 1048576;
  struct Published {
    int driver;
    ExecPartCounts counts;
    double bytes;
  };
  const std::vector<Published> reports = {
      {0, {1, 763'000, 37'000, 0}, 2.0 * 1024 * kMiB},  // RTX PRO 2000
      {0, {1, 763'000, 37'000, 0}, 7.8 * 1024 * kMiB},  // A100: 8.6 GiB, less 0.5 and 0.31
      {13000, {200, 5'600, 0, 0}, 90.0 / 1024 * 200 * kMiB + 5'600 * 2.2 * 1024},  // H200
      {12030, {1, 1'000, 0, 0}, 1'000 * 64.0 * 1024},  // "64 KB for each kernel launch"
      {12080, {1, 1'000, 0, 0}, 1'000 * 10.0 * 1024},  // "around 10KB per kernel node"
  };
  for (const Published& report : reports) {
    CAPTURE(report.driver);
    CAPTURE(report.bytes);
    const ByteRange range = PublishedExecModel(report.driver).Of(report.counts);
    CHECK(static_cast<double>(range.low) <= report.bytes);
    CHECK(report.bytes <= static_cast<double>(range.high));
  }
}

TEST_CASE("nodes count as they were when the exec was made, those inside of nodes too") {
  TraceBuilder b;
  const StreamId stream = b.Stream();
  const GraphId inner = Chain(b, stream, 3, 1);
  const GraphId outer = b.BeginCapture(stream);
  b.Kernel(stream);
  b.ChildGraph(stream, inner);
  b.Memset(stream);
  b.EndCapture(stream);
  b.Instantiate(outer);
  const NodeId late = b.Add(outer, NodeKind::kKernel);
  b.Instantiate(outer);
  b.Destroy(late);
  b.Instantiate(outer);
  const Ran trace = b.Build();
  const auto counts = CountExecParts(trace, FindRoots(trace));
  CHECK(counts == std::vector<ExecPartCounts>{{1, 4, 2, 1}, {1, 5, 2, 1}, {1, 4, 2, 1}});
  // Of the graph all versions that execs were made of.
  CHECK(CountGraphParts(trace, FindRoots(trace))[outer.index()] == ExecPartCounts{1, 5, 2, 1});
}

TEST_CASE("execs that are gone don't count: the peak is of those that are there at once") {
  TraceBuilder b;
  const StreamId stream = b.Stream();
  const GraphId small = Chain(b, stream, 10, 0), large = Chain(b, stream, 100, 0);
  const ExecId first = b.Instantiate(small);
  b.Destroy(first);
  b.Instantiate(small);
  const ExecId last = b.Instantiate(large);
  const Ran trace = b.Build();
  const ExecMemory memory = MemoryOf(trace);
  const ByteRange kernel = memory.model.parts[1], exec = memory.model.parts[0];
  CHECK(memory.source == ExecSource::kEstimated);
  CHECK(memory.peak.execs == 2);
  CHECK(memory.peak.at == trace[last].created);
  CHECK(memory.peak.bytes.bytes == 2 * exec.bytes + 110 * kernel.bytes);
  CHECK(memory.peak.bytes.high == 2 * exec.high + 110 * kernel.high);
  const auto peaks = ExecPeaks(trace, memory);
  CHECK(peaks[small.index()].execs == 1);
  CHECK(peaks[large.index()].bytes == memory.execs[last.index()].bytes);
}

TEST_CASE("a trace in which nothing was instantiated says nothing") {
  TraceBuilder b;
  Chain(b, b.Stream(), 3, 0);
  const Ran trace = b.Build();
  CHECK(!FindExecMemory(trace, FindRoots(trace)));
  CHECK(!Analyze(trace, {})->execs);
}

// A driver that takes memory in chunks.
struct ChunkedDriver {
  Bytes free = Bytes{64} << 30;
  Bytes held = 0;
  Bytes used = 0;

  ExecReading Take(Bytes bytes, ExecId exec, ExecCall call) {
    const Bytes before = free;
    used += bytes;
    while (held < used) {
      held += kDriverChunk;
      free -= kDriverChunk;
    }
    return {.exec = exec, .call = call, .before = before, .after = free};
  }
};

TEST_CASE("readings in chunks yield what a driver of any such model takes") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(30); ++round) {
    CAPTURE(round);
    const auto pick = [&](Bytes low, Bytes high) {
      return std::uniform_int_distribution<Bytes>(low, high)(random);
    };
    const Bytes exec = pick(0, 400) * kKiB, kernel = pick(3, 24) * kKiB, copy = pick(0, 20) * kKiB;
    TraceBuilder b;
    const StreamId stream = b.Stream();
    ChunkedDriver driver;
    std::vector<ExecReading> readings;
    std::vector<Bytes> truth;
    const int graphs = static_cast<int>(pick(3, 6));
    for (int i = 0; i < graphs; ++i) {
      const Bytes kernels = pick(0, 300), copies = pick(0, 300);
      const GraphId graph = Chain(b, stream, static_cast<int>(kernels), static_cast<int>(copies));
      for (Bytes left = pick(20, 60); left > 0; --left) {
        const ExecId made = b.Instantiate(graph);
        const Bytes bytes = exec + kernels * kernel + copies * copy;
        truth.push_back(bytes);
        readings.push_back(driver.Take(bytes / 2, made, ExecCall::kInstantiate));
        readings.push_back(driver.Take(bytes - bytes / 2, made, ExecCall::kLaunch));
      }
    }
    Ran trace = b.Build();
    trace.exec_readings = readings;
    const ExecMemory memory = MemoryOf(trace);
    CHECK(memory.source == ExecSource::kMeasured);
    Bytes sum = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
      sum += truth[i];
      CHECK(memory.execs[i].bytes.low <= truth[i]);
      CHECK(truth[i] <= memory.execs[i].bytes.high);
    }
    CHECK(memory.peak.bytes.low <= sum);
    CHECK(sum <= memory.peak.bytes.high);
    const Bytes expected[] = {exec, kernel, copy};
    for (size_t part = 0; part < 3; ++part) {
      CAPTURE(part);
      CHECK(memory.model.parts[part].low <= expected[part]);
      CHECK(expected[part] <= memory.model.parts[part].high);
    }
  }
}

TEST_CASE("readings that contradict the table are believed") {
  TraceBuilder b;
  const StreamId stream = b.Stream();
  ChunkedDriver driver;
  std::vector<ExecReading> readings;
  for (const int kernels : {300, 1000}) {
    const GraphId graph = Chain(b, stream, kernels, 0);
    for (int i = 0; i < 10; ++i) {
      const ExecId exec = b.Instantiate(graph);
      readings.push_back(
          driver.Take(static_cast<Bytes>(kernels) * 64 * kKiB, exec, ExecCall::kInstantiate));
      readings.push_back(driver.Take(0, exec, ExecCall::kLaunch));
    }
  }
  Ran trace = b.Build();
  trace.exec_readings = readings;
  const ByteRange kernel = MemoryOf(trace).model.parts[1];
  CHECK(kernel.low > PublishedExecModel(0).parts[1].high);
  CHECK(kernel.low <= 64 * kKiB);
  CHECK(64 * kKiB <= kernel.high);
}

TEST_CASE("a disturbed reading is counted and not used; others correct the table for its exec") {
  TraceBuilder b;
  const StreamId stream = b.Stream();
  const GraphId graph = Chain(b, stream, 1000, 0);
  std::vector<ExecReading> readings;
  ChunkedDriver driver;
  for (int i = 0; i < 20; ++i) {
    const ExecId exec = b.Instantiate(graph);
    readings.push_back(driver.Take(16 * 1000 * kKiB, exec, ExecCall::kInstantiate));
    readings.push_back(driver.Take(0, exec, ExecCall::kLaunch));
  }
  readings[4].disturbed = true;                   // exec 2
  readings[9].after = readings[9].before + 4096;  // exec 4: given back by somebody
  Ran trace = b.Build();
  trace.exec_readings = readings;
  const ExecMemory memory = MemoryOf(trace);
  CHECK(memory.readings == 40);
  CHECK(memory.disturbed_readings == 2);
  CHECK(memory.source == ExecSource::kCalibrated);
  CHECK(memory.execs[0].source == ExecSource::kMeasured);
  CHECK(memory.execs[0].measured_alike == 18);
  for (const size_t i : {size_t{2}, size_t{4}}) {
    CHECK(memory.execs[i].source == ExecSource::kCalibrated);
    CHECK(memory.execs[i].bytes.low <= 16 * 1000 * kKiB);
    CHECK(memory.execs[i].bytes.high >= 16 * 1000 * kKiB);
  }
}

}  // namespace
}  // namespace graphkit
