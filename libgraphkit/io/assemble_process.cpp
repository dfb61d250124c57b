#include "libgraphkit/io/trace_assembler.h"

namespace graphkit {
namespace {

void Replace(std::string& text, std::string_view with) {
  if (!with.empty()) text = with;
}

void Replace(int& number, int with) {
  if (with != 0) number = with;
}

}  // namespace

bool TraceAssembler::Apply(const ProcessRecord& r) {
  Process& process = trace_.process;
  const bool first = process.pid == 0 && process.program.empty();
  if (first) process.seq = place();
  if (r.pid != 0) process.pid = r.pid;
  Replace(process.program, r.program);
  if (!r.args.empty()) process.args.assign(r.args.begin(), r.args.end());
  Replace(process.device_name, r.device_name);
  Replace(process.driver_version, r.driver);
  Replace(process.runtime_version, r.runtime);
  Replace(process.cupti_version, r.cupti);
  Replace(process.cupti_path, r.cupti_path);
  Replace(process.tracer_version, r.tracer);
  if (!r.env.empty()) process.environment.assign(r.env.begin(), r.env.end());
  Replace(process.unknown_memory, r.unknown_memory);
  return true;
}

bool TraceAssembler::Apply(const ClockRecord& r) {
  trace_.clocks.push_back({.monotonic = r.mono, .wall = r.wall, .seq = place()});
  return true;
}

bool TraceAssembler::Apply(const ThreadRecord& r) {
  if (!IsNext(r.id, trace_.threads.size(), "threads")) return false;
  trace_.threads.push_back({.tid = r.tid, .name = Intern(r.name), .created = place()});
  return true;
}

bool TraceAssembler::Apply(const KernelRecord& r) {
  if (!IsNext(r.id, trace_.kernels.size(), "kernels")) return false;
  Kernel kernel;
  kernel.name = Intern(r.name);
  kernel.has_layout = r.has_params;
  if (!AddSlice(r.params, trace_.kernel_params, kernel.params)) return false;
  kernel.waits = r.waits;
  kernel.created = place();
  trace_.kernels.push_back(kernel);
  return true;
}

bool TraceAssembler::Apply(const StackRecord& r) {
  if (!IsNext(r.id, trace_.stacks.size(), "stacks")) return false;
  Stack stack;
  std::vector<StackFrame> frames;
  for (const FrameRecord& frame : r.frames) {
    const StringId function = Intern(frame.function);
    frames.push_back({function, Intern(frame.file), frame.line});
  }
  if (!AddSlice(std::span<const StackFrame>(frames), trace_.stack_frames, stack.frames)) return false;
  stack.created = place();
  trace_.stacks.push_back(stack);
  return true;
}

bool TraceAssembler::Apply(const NvtxPushRecord& r) {
  if (!RefersToThread(r.thread)) return false;
  NvtxRange range;
  range.thread = r.thread;
  range.domain = Intern(r.domain);
  range.name = Intern(r.name);
  range.colour = static_cast<uint32_t>(r.colour);
  range.begin = place();
  open_ranges_[{range.thread, range.domain}].push_back(
      static_cast<uint32_t>(trace_.nvtx_ranges.size()));
  trace_.nvtx_ranges.push_back(range);
  return true;
}

// A pop without a push closes a range that was opened before the trace began.
bool TraceAssembler::Apply(const NvtxPopRecord& r) {
  if (!RefersToThread(r.thread)) return false;
  std::vector<uint32_t>& open = open_ranges_[{r.thread, Intern(r.domain)}];
  if (open.empty()) return true;
  trace_.nvtx_ranges[open.back()].end = place();
  open.pop_back();
  return true;
}

bool TraceAssembler::Apply(const FailureRecord& r) {
  if (!RefersToThread(r.thread) || !RefersToStream(r.stream)) return false;
  if (!RefersToGraph(r.graph) || !RefersToStack(r.stack)) return false;
  Failure failure;
  failure.call = Intern(r.call);
  failure.error = r.error;
  failure.thread = r.thread;
  failure.stream = r.stream;
  failure.graph = r.graph;
  failure.stack = r.stack;
  failure.arguments = Intern(r.args);
  failure.seq = place();
  trace_.failures.push_back(failure);
  return true;
}

bool TraceAssembler::Apply(const DroppedRecord& r) {
  trace_.completeness.dropped_records += r.records;
  return true;
}

bool TraceAssembler::Apply(const NoteRecord& r) {
  trace_.completeness.notes.emplace_back(r.text);
  return true;
}

}  // namespace graphkit
