// Measures the device memory of an exec (`graphkit trace --measure-execs`): reads free memory right
// before and right after the calls in which the driver takes it, in the callbacks of these calls. A
// reading covers the whole device. The tracer knows this process's other calls that take or give
// back memory: a reading during which there was one is marked as disturbed.
#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

bool TakesMemory(CallKind kind) {
  switch (kind) {
    case CallKind::kAlloc:
    case CallKind::kFree:
    case CallKind::kPoolCreate:
    case CallKind::kPoolDestroy:
    case CallKind::kStreamCreate:
    case CallKind::kInstantiate:
    case CallKind::kExecDestroy:
    case CallKind::kExecUpdate:
    case CallKind::kGraphUpload:
    case CallKind::kGraphLaunch:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Tracer::IsMeasured(const DriverCall& row, const cupti::CallbackData& data) {
  if (row.kind == CallKind::kInstantiate || row.kind == CallKind::kGraphUpload) return true;
  if (row.kind != CallKind::kGraphLaunch) return false;
  Call call;
  row.decode({data.params, &row, false}, call);
  std::lock_guard lock(mutex_);
  return recorder_->IsUnlaunched(call.exec);
}

void Tracer::BeginMeasuring(ThreadState& thread, const DriverCall& row,
                            const cupti::CallbackData& data) {
  thread.measuring = false;
  if (!TakesMemory(row.kind)) return;
  const bool alone = takers_now_.fetch_add(1) == 0;
  thread.takers_before = takers_.fetch_add(1) + 1;
  if (!IsMeasured(row, data)) return;
  const std::optional<uint64_t> free = driver_.FreeMemory();
  thread.measuring = free.has_value();
  thread.free_memory = {.before = free.value_or(0), .after = 0, .disturbed = !alone};
}

void Tracer::EndMeasuring(ThreadState& thread, const DriverCall& row) {
  if (!TakesMemory(row.kind)) return;
  if (thread.measuring) {
    const std::optional<uint64_t> free = driver_.FreeMemory();
    thread.measuring = free.has_value();
    thread.free_memory.after = free.value_or(0);
    if (takers_.load() != thread.takers_before) thread.free_memory.disturbed = true;
  }
  if (takers_now_.load() > 0) takers_now_.fetch_sub(1);
}

}  // namespace graphkit
