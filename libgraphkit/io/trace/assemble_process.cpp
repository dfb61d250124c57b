#include "libgraphkit/io/trace/trace_assembler.h"

namespace graphkit {
bool TraceAssembler::Settle(const ProcessRecord& r) {
  Process& process = trace_.process;
  const bool first = process.pid == 0 && process.program.empty();
  if (first) process.seq = place();
  ProcessRecord known;
  known.process = std::move(process);
  process = std::move(FieldCopier<ProcessRecord, true>(r, std::move(known)).to.process);
  return true;
}

bool TraceAssembler::Settle(const DroppedRecord& r) {
  trace_.completeness.dropped_records += r.records;
  return true;
}

bool TraceAssembler::Settle(const NoteRecord& r) {
  trace_.completeness.notes.push_back(r.text);
  trace_.completeness.stopped |= r.stopped;
  return true;
}

bool TraceAssembler::Settle(const HistoryEventsRecord& r) {
  uint64_t last = r.row.first;
  for (const char digit : trace_[r.row.steps]) {
    const std::optional<Seq> step = StepOf(digit);
    if (!step) return Fail("has a bad \"steps\": it should be digits in base 36");
    last += *step;
  }
  return last < place() || Fail("names place " + std::to_string(last) + ", which comes later");
}

bool TraceAssembler::Settle(const NvtxPushRecord& r) {
  open_ranges_[{r.row.thread, r.row.domain}].push_back(
      static_cast<uint32_t>(trace_.nvtx_ranges.size() - 1));
  return true;
}

// A pop without a push closes a range that was opened before the trace began.
bool TraceAssembler::Settle(const NvtxPopRecord& r) {
  std::vector<uint32_t>& open = open_ranges_[{r.thread, r.domain}];
  if (open.empty()) return true;
  trace_.nvtx_ranges[open.back()].end = place();
  open.pop_back();
  return true;
}

bool TraceAssembler::Settle(const CaptureEndRecord& r) {
  const Capture nothing;
  if (r.failure != nothing.failure && r.failure >= trace_.failures.size()) {
    return FailReference("failure", r.failure, trace_.failures.size(), "failures");
  }
  Capture& capture = trace_.captures[r.capture.index()];
  if (capture.end != kNever) {
    return Fail("ends capture " + std::to_string(r.capture.value) + " a second time");
  }
  const bool completed = r.error == 0 && r.failure == nothing.failure;
  capture.status = completed ? CaptureStatus::kCompleted : CaptureStatus::kInvalidated;
  capture.error = r.error;
  capture.failure = r.failure;
  capture.end = place();
  return true;
}

// Graph memory may be freed once per launch: the first free is the one that the model keeps.
template <TypeName kName, auto Place>
bool TraceAssembler::RequestFree(const AnyFreeRecord<kName, Place>& r, Block* block) {
  if (block->freed()) return false;
  block->free_requested = place();
  block->free_stream = r.stream;
  block->free_stack = r.stack;
  return true;
}

bool TraceAssembler::Settle(const FreeRecord& r) {
  trace_.blocks.Change(r.memory.index(), [&](Block& block) {
    if (RequestFree(r, &block)) block.free_completed = place();
  });
  return true;
}

bool TraceAssembler::Settle(const FreeRequestedRecord& r) {
  trace_.blocks.Change(r.memory.index(), [&](Block& block) { RequestFree(r, &block); });
  return true;
}

bool TraceAssembler::Settle(const FreeCompletedRecord& r) {
  trace_.blocks.Change(r.memory.index(), [&](Block& block) {
    RequestFree(r, &block);
    if (block.free_completed == kNever) block.free_completed = place();
  });
  return true;
}

}  // namespace graphkit
