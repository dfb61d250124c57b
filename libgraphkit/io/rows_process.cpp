#include "libgraphkit/io/record_rows.h"

namespace graphkit {
namespace {

void PutProcess(const Trace& trace, Places& places) {
  Process nothing;
  nothing.device = trace.process.device;
  nothing.seq = trace.process.seq;
  if (!(trace.process == nothing)) places.Put(trace.process.seq, 0);
}

void PrintProcess(PlacePrinter& to, uint32_t) {
  const Process& process = to.trace.process;
  const std::vector<std::string_view> args(process.args.begin(), process.args.end());
  const std::vector<std::string_view> env(process.environment.begin(), process.environment.end());
  ProcessRecord r;
  r.pid = process.pid;
  r.program = process.program;
  r.args = args;
  r.device_name = process.device_name;
  r.driver = process.driver_version;
  r.runtime = process.runtime_version;
  r.cupti = process.cupti_version;
  r.cupti_path = process.cupti_path;
  r.tracer = process.tracer_version;
  r.env = env;
  r.unknown_memory = process.unknown_memory;
  to.Print(r);
}

void PutClocks(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.clocks.size(); ++i) places.Put(trace.clocks[i].seq, i);
}

void PrintClock(PlacePrinter& to, uint32_t index) {
  ClockRecord r;
  r.mono = to.trace.clocks[index].monotonic;
  r.wall = to.trace.clocks[index].wall;
  to.Print(r);
}

void PutThreads(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.threads.size(); ++i) places.Put(trace.threads[i].created, i);
}

void PrintThread(PlacePrinter& to, uint32_t index) {
  ThreadRecord r;
  r.id = ThreadId(index);
  r.tid = to.trace.threads[index].tid;
  r.name = to.trace[to.trace.threads[index].name];
  to.Print(r);
}

void PutKernels(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.kernels.size(); ++i) places.Put(trace.kernels[i].created, i);
}

void PrintKernel(PlacePrinter& to, uint32_t index) {
  const Kernel& kernel = to.trace.kernels[index];
  KernelRecord r;
  r.id = KernelId(index);
  r.name = to.trace[kernel.name];
  r.has_params = kernel.has_layout;
  r.params = PlacePrinter::Of(to.trace.kernel_params, kernel.params);
  r.waits = kernel.waits;
  to.Print(r);
}

void PutStacks(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.stacks.size(); ++i) places.Put(trace.stacks[i].created, i);
}

void PrintStack(PlacePrinter& to, uint32_t index) {
  std::vector<FrameRecord> frames;
  for (const StackFrame& frame :
       PlacePrinter::Of(to.trace.stack_frames, to.trace.stacks[index].frames)) {
    frames.push_back({to.trace[frame.function], to.trace[frame.file], frame.line});
  }
  StackRecord r;
  r.id = StackId(index);
  r.frames = frames;
  to.Print(r);
}

void PutPushes(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.nvtx_ranges.size(); ++i) places.Put(trace.nvtx_ranges[i].begin, i);
}

void PrintPush(PlacePrinter& to, uint32_t index) {
  const NvtxRange& range = to.trace.nvtx_ranges[index];
  NvtxPushRecord r;
  r.thread = range.thread;
  r.domain = to.trace[range.domain];
  r.name = to.trace[range.name];
  r.colour = range.colour;
  to.Print(r);
}

void PutPops(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.nvtx_ranges.size(); ++i) places.Put(trace.nvtx_ranges[i].end, i);
}

void PrintPop(PlacePrinter& to, uint32_t index) {
  const NvtxRange& range = to.trace.nvtx_ranges[index];
  NvtxPopRecord r;
  r.thread = range.thread;
  r.domain = to.trace[range.domain];
  to.Print(r);
}

void PutFailures(const Trace& trace, Places& places) {
  for (size_t i = 0; i < trace.failures.size(); ++i) places.Put(trace.failures[i].seq, i);
}

void PrintFailure(PlacePrinter& to, uint32_t index) {
  const Failure& failure = to.trace.failures[index];
  FailureRecord r;
  r.call = to.trace[failure.call];
  r.error = failure.error;
  r.thread = failure.thread;
  r.stream = failure.stream;
  r.graph = failure.graph;
  r.stack = failure.stack;
  r.args = to.trace[failure.arguments];
  to.Print(r);
}

constexpr RecordRow kProcessRows[] = {
    {PutProcess, PrintProcess}, {PutClocks, PrintClock},     {PutThreads, PrintThread},
    {PutKernels, PrintKernel},  {PutStacks, PrintStack},     {PutPushes, PrintPush},
    {PutPops, PrintPop},        {PutFailures, PrintFailure},
};

}  // namespace

std::span<const RecordRow> ProcessRows() { return kProcessRows; }

}  // namespace graphkit
