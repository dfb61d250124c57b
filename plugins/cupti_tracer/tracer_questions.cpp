// What the tracer has to ask before it can record a call: the driver, CUPTI, the loader. It asks
// without its lock: they may be waiting, under a lock of theirs, for a callback of ours on another
// thread.
#include <algorithm>
#include <utility>

#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {

// A kernel node that is recorded for the first time, of a function that isn't known.
bool Tracer::NeedsKernel(const ThreadState& thread, const Call& call) {
  if (call.kernel.function == 0) return false;
  const bool recorded =
      eager_ || call.kind == CallKind::kNodeSet ||
      std::ranges::count(thread.events, GraphEventKind::kNodeStarting, &GraphEvent::kind) != 0;
  return recorded && !recorder_->work_reader().KnowsKernel(call.kernel.function, call.kernel.name);
}

// How many frames the call's record says, if any.
int Tracer::StackDepth(const ThreadState& thread, const Call& call) const {
  if (call.result != 0) return FailureDepth(call.result, call.is_allocation);
  return !thread.events.empty() || Is(call.kind, KindRow::kStacked) ? depth_ : 0;
}

// Of a call that failed, also where no stacks were asked for: what breaks a capture is found by
// where it is called.
int Tracer::FailureDepth(int32_t error, bool matters) const {
  bool told = matters || depth_ != 0 || recorder_->capturing();
  return error != kNotReady && told ? failure_depth_ : 0;
}

// Naming a stack takes the loader's lock, under which a library that is being loaded may call CUDA.
StackId Tracer::StackOf(int depth, Lock& lock) {
  TakenStack taken;
  lock.unlock();
  taken.Take(python_, static_cast<size_t>(depth));
  lock.lock();
  if (StackId known = recorder_->stacks().Find(taken.key())) return known;
  lock.unlock();
  std::vector<NamedFrame> frames;
  {
    std::lock_guard naming(names_mutex_);
    frames = names_.Name({taken.words, taken.addresses}, static_cast<size_t>(depth),
                         {taken.python, taken.python_frames});
  }
  lock.lock();
  if (!on_.load(std::memory_order_relaxed)) return {};
  return recorder_->stacks().Add(taken.key(), frames);
}

void Tracer::LearnKernel(const Call& call, Lock& lock) {
  lock.unlock();
  KernelLayout layout = driver_.Layout(call.kernel.function, call.kernel.name);
  layout.waits = code_.Waits(layout.name);
  lock.lock();
  if (on_.load(std::memory_order_relaxed))
    recorder_->work_reader().AddKernel(call.kernel.function, std::move(layout));
}

int32_t Tracer::DeviceOf(uint64_t context, Lock& lock) {
  if (context == 0) return 0;
  if (cupti_.device_id == nullptr) return kUnknownDevice;
  for (const auto& [known, device] : devices_) {
    if (known == context) return device;
  }
  lock.unlock();
  uint32_t asked = 0;
  const bool known = cupti_.device_id(reinterpret_cast<void*>(context), &asked) == cupti::kSuccess;
  const int32_t device = known ? static_cast<int32_t>(asked) : kUnknownDevice;
  lock.lock();
  devices_.emplace_back(context, device);
  return device;
}

void Tracer::LearnProcess(Lock& lock) {
  lock.unlock();
  ProcessFacts facts{driver_.DeviceName(), driver_.Version(), cupti_.version, cupti_.path};
  lock.lock();
  if (process_known_) return;
  process_known_ = true;
  file_->SetFacts(std::move(facts));
}

}  // namespace graphkit
