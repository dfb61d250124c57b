#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

TEST_CASE("block-leak leaves registered memory to its owner") {
  TraceBuilder t;
  t.SetPool(t.Pool(PoolKind::kHost, "registered"));
  t.Alloc({}, 4096);
  CHECK(Run("block-leak", &t).empty());
}

TEST_CASE("block-leak names what was never freed, by call site") {
  TraceBuilder t;
  const StackId here = t.Stack({{"Load", "load.cpp", 7}});
  t.SetStack(here);
  const BlockId x = t.Alloc({}, 1000);
  const BlockId y = t.Alloc({}, 24);
  t.Free(t.Alloc({}, 4096));
  const Finding finding = RunForOne("block-leak", &t);
  CHECK(finding.message == "blocks 0 and 1 of device memory were never freed: 1 KiB");
  CHECK(finding.bytes == 1024);
  CHECK(finding.blocks == std::vector{x, y});
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.evidence.front().stack == here);
}

TEST_CASE("block-leak leaves an allocator its segments, and destroyed pools their blocks") {
  TraceBuilder t;
  const BlockId backing = t.Alloc({}, 1 << 20);
  const PoolId pool = t.Pool(PoolKind::kPrivate);
  const SegmentId segment = t.Segment(pool, 1 << 20);
  t.SetPool(pool);
  t.Alloc({}, 512);
  Ran trace = t.Build();
  trace.segments[segment.index()].block = backing;
  trace.pools[pool.index()].destroyed = trace.records++;
  CHECK(Run("block-leak", std::move(trace)).empty());
}

TEST_CASE("block-leak leaves an allocator what a resume maps again at a segment's place") {
  const auto after = [](Address address) {
    TraceBuilder t;
    const BlockId backing = t.AllocAt({}, 1 << 20, 0x200000);
    const SegmentId segment = t.Segment(t.Pool(PoolKind::kAllocator), 1 << 20);
    t.Free(backing);
    t.AllocAt({}, 1 << 20, address);
    Ran trace = t.Build();
    trace.segments[segment.index()].block = backing;
    trace.segments[segment.index()].address = 0x200000;
    return Run("block-leak", std::move(trace)).size();
  };
  CHECK(after(0x200000) == 0);
  CHECK(after(0x400000) == 1);  // another place
}

TEST_CASE("block-leak says nothing of a trace that was cut off") {
  TraceBuilder t;
  t.Alloc({}, 1000);
  Ran trace = t.Build();
  trace.completeness.truncated = true;
  CHECK(Run("block-leak", std::move(trace)).empty());
}

// A stack as PyTorch records it: its own frames inside, the program's outside.
StackId TorchStack(TraceBuilder* t, std::string_view inner, const char* function, uint32_t line) {
  const std::string file = "/venv/lib/python3.11/site-packages" + std::string(inner);
  return t->Stack({{function, file, 98}, {"step", "train.py", line}});
}

// `unexplained` bytes have no purpose.
std::vector<Finding> OfKept(Bytes unexplained) {
  TraceBuilder t;
  t.SetPool(t.Pool(PoolKind::kAllocator));
  t.SetStack(TorchStack(&t, "/torch/nn/modules/module.py", "_apply", 3));
  t.Alloc({}, 2048);
  t.SetStack(TorchStack(&t, "/torch/optim/adam.py", "_init_group", 9));
  t.Alloc({}, 4096);
  t.SetStack(TorchStack(&t, "/torch/optim/adam.py", "_group", 9));
  t.Alloc({}, 4096);
  t.SetStack({});
  if (unexplained != 0) t.Alloc({}, unexplained);
  return Run("block-leak", &t);
}

TEST_CASE("block-leak tells in one note what an allocator keeps until the end, by line") {
  CHECK(OfKept(0).empty());  // all of it has a purpose
  const std::vector<Finding> found = OfKept(512);
  REQUIRE(found.size() == 1);
  const Finding& finding = found.front();
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.message ==
        "kept until the end: 4 blocks, 10.5 KiB (8 KiB optimizer state, 2 KiB weights and buffers, "
        "512 B other memory)");
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[0].text == "8 KiB in 2 blocks, optimizer state");
  CHECK(finding.evidence[1].text == "2 KiB in 1 block, weights and buffers");
  CHECK(finding.advice.empty());
}

// A line that makes a block before each of `launches` launches.
Ran Growing(int launches, bool frees_one, bool captured) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  t.SetPool(t.Pool(PoolKind::kAllocator));
  t.BeginCapture(s);
  t.Kernel(s);
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(GraphId(uint32_t{0}));
  t.SetStack(t.Stack({{"Collect", "train.py", 12}}));
  for (int i = 0; i < launches; ++i) {
    if (captured) t.BeginCapture(s);
    const BlockId kept = t.Alloc(s, 1000);
    if (captured) t.EndCapture(s);
    if (frees_one && i == 0) t.Free(kept);
    t.Launch(exec, s);
  }
  return t.Build();
}

TEST_CASE("block-leak warns of an allocator's memory that grows from launch to launch") {
  const std::vector<Finding> findings = Run("block-leak", Growing(3, false, false));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  CHECK(findings[0].message ==
        "blocks 0, 1 and 2 of an allocator's pool were never freed: 2.93 KiB, and it grows: made "
        "by one line in 3 intervals between launches and captures");
  CHECK(Run("block-leak", Growing(4, false, true)).empty());  // of the graphs
  for (const Ran& kept : {Growing(2, false, false), Growing(4, true, false)}) {
    const std::vector<Finding> notes = Run("block-leak", kept);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].severity == Severity::kNote);
  }
}

TEST_CASE("block-leak counts a workspace for each stream as kept, more of one stream as growth") {
  const auto found = [](int streams, int each) {
    TraceBuilder t;
    t.SetPool(t.Pool(PoolKind::kAllocator));
    t.SetStack(t.Stack({{"at::cuda::getCurrentCUDABlasHandle()", "", 0}, {"Warm", "train.py", 5}}));
    for (int i = 0; i < streams; ++i) {
      const StreamId s = t.Stream();
      for (int j = 0; j < each; ++j) {
        t.Alloc(s, 1000);
        t.BeginCapture(s);
        t.EndCapture(s);
      }
    }
    return Run("block-leak", &t);
  };
  CHECK(found(4, 1).empty());
  REQUIRE(found(1, 4).size() == 1);
  CHECK(found(1, 4)[0].severity == Severity::kWarning);
}

TEST_CASE("block-leak takes what a library asked the driver for as kept") {
  TraceBuilder t;
  t.SetStack(t.Stack({{"at::empty", "/venv/lib/python3.11/site-packages/torch/lib/libtorch.so", 0},
                      {"step", "train.py", 3}}));
  t.Alloc({}, 1000);
  const Finding finding = RunForOne("block-leak", &t);
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.message == "kept until the end: 1 block, 1000 B (1000 B other memory)");
}

// Driver memory that one line gets before each of three launches, and never frees.
std::vector<Finding> OfGrowingDriverMemory(const char* program,
                                           std::initializer_list<FrameText> frames) {
  TraceBuilder t;
  t.SetProgram(program);
  const StreamId s = t.Stream();
  t.BeginCapture(s);
  t.Kernel(s);
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(GraphId(uint32_t{0}));
  if (frames.size() > 0) t.SetStack(t.Stack(frames));
  for (int i = 0; i < 3; ++i) {
    t.Alloc({}, 1000);
    t.Launch(exec, s);
  }
  return Run("block-leak", &t);
}

TEST_CASE("block-leak leaves driver memory of a Python program to its libraries, with any stacks") {
  const char* python = "/usr/bin/python3.11";
  CHECK(OfGrowingDriverMemory(python, {}).empty());
  CHECK(OfGrowingDriverMemory(python, {{"<module>", "train.py", 5}}).empty());
  CHECK(OfGrowingDriverMemory(python, {{"__pyx_f_13cupy_backends_4cuda_3api_7runtime_malloc",
                                        "/work/cupy/cupy_backends/cuda/api/runtime.cpp", 13544},
                                       {"<module>", "train.py", 5}})
            .empty());
  const auto grows = [](std::initializer_list<FrameText> frames) {
    return OfGrowingDriverMemory("./app", frames).front().severity == Severity::kWarning;
  };
  CHECK(grows({}));
  CHECK(grows({{"main", "app.cpp", 5}}));
}

TEST_CASE("block-leak takes the arena of ONNX Runtime as kept in a program of C++, too") {
  CHECK(OfGrowingDriverMemory("./app", {{"onnxruntime::CUDAAllocator::Alloc(unsigned long)",
                                         "/opt/ort/lib/libonnxruntime_providers_cuda.so"},
                                        {"main", "app.cpp", 5}})
            .empty());
}

}  // namespace
}  // namespace graphkit
