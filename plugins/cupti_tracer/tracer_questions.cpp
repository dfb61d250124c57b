// Queries that the tracer needs before it can record a call: to the driver, CUPTI and the loader.
// It asks without its lock: they may be waiting, under a lock of theirs, for a callback of ours on
// another thread.
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libgraphkit/model/graph.h"
#include "plugins/cupti_tracer/tracer.h"

namespace graphkit {
namespace {

// True if a program or a library is loaded there.
bool IsLoaded(uint64_t address) {
  auto holds = [](dl_phdr_info* info, size_t, void* data) {
    const uint64_t offset = *static_cast<const uint64_t*>(data) - info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      if (part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz) return 1;
    }
    return 0;
  };
  return dl_iterate_phdr(holds, &address) != 0;
}

bool IsOnStack(ThreadState& thread, uint64_t address) {
  pthread_attr_t attributes;
  if (thread.stack_end == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* begin = nullptr;
    size_t bytes = 0;
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    thread.stack_begin = reinterpret_cast<uint64_t>(begin);
    thread.stack_end = thread.stack_begin + bytes;
  }
  return thread.stack_begin <= address && address < thread.stack_end;
}

// The stack from the callback in flight outwards, as far as frames of a driver and a few more may
// reach.
std::span<const uint64_t> StackWords(const ThreadState& thread) {
  constexpr uint64_t kMostBytes = 16 << 10;
  const uint64_t bytes = std::min(thread.stack_end - thread.anchor, kMostBytes);
  return {reinterpret_cast<const uint64_t*>(thread.anchor), bytes / sizeof(uint64_t)};
}

HostMemoryKind KindOf(ThreadState& thread, uint64_t address) {
  if (IsOnStack(thread, address)) return HostMemoryKind::kStack;
  return IsLoaded(address) ? HostMemoryKind::kProgram : HostMemoryKind::kPageable;
}

}  // namespace

// In a graph: as a node, or as a node's parameters.
bool Tracer::IsRecorded(const ThreadState& thread, const Call& call) {
  return call.kind == CallKind::kNodeSet ||
         std::ranges::count(thread.events, GraphEventKind::kNodeStarting, &GraphEvent::kind) != 0;
}

// A kernel that is to be recorded, of a function that isn't known.
bool Tracer::NeedsKernel(const ThreadState& thread, const Call& call) {
  if (call.kernel.function == 0) return false;
  if (const uint64_t unloads = unloads_.load(std::memory_order_relaxed); forgotten_ != unloads) {
    forgotten_ = unloads;
    recorder_->work_reader().ForgetFunctions();
  }
  const bool eager = call.kind == CallKind::kWork && call.result == 0 && thread.events.empty();
  return (eager || IsRecorded(thread, call)) &&
         !recorder_->work_reader().KnowsKernel(call.kernel.function, call.kernel.name);
}

// True if work that was submitted outside of captures is to be recorded. Without the lock.
bool Tracer::MayMatter(const ThreadState& thread, const Call& call) const {
  const EagerWatch& watch = recorder_->watch();
  if (eager_ || watch.capturing()) return true;
  if (call.kernel.function == 0) {
    return watch.MayHold(call.own) || std::ranges::any_of(call.operations, [&](const auto& part) {
             return watch.MayHold(part);
           });
  }
  if (thread.unloads != unloads_.load(std::memory_order_relaxed)) return true;
  const KernelInfo* const* known = thread.kernels.Find(call.kernel.function);
  if (known == nullptr) return true;  // its arguments are looked up once
  const bool same = call.kernel.name == nullptr || (*known)->name == call.kernel.name;
  return !same || watch.MayHold(call.kernel, **known);
}

// How many frames the call's record says, if any.
int Tracer::StackDepth(const ThreadState& thread, const Call& call) const {
  if (call.result != 0) return FailureDepth(call.result, call.is_allocation);
  const bool told = call.kind == CallKind::kWork || Is(call.kind, KindRow::kStacked);
  return told || !thread.events.empty() ? depth_ : 0;
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

bool Tracer::MayAskForWorkspace(ThreadState& thread) {
  if (!IsOnStack(thread, thread.anchor)) return true;
  std::lock_guard naming(names_mutex_);
  return workspace_calls_.MayFind(StackWords(thread));
}

// Where no stacks were asked for: the one frame that tells a library's workspace from tensors. Few
// allocations are workspaces, and most stacks show that by their words, without being unwound.
StackId Tracer::WorkspaceStack(ThreadState& thread, Lock& lock) {
  std::array<uint64_t, kFramesAbove + 16> addresses;
  size_t taken = 0;
  std::optional<NamedFrame> frame;
  lock.unlock();
  if (MayAskForWorkspace(thread)) {
    taken = TakeStack(addresses);
    std::lock_guard naming(names_mutex_);
    frame = workspace_calls_.Find({addresses.data(), taken});
  }
  lock.lock();
  if (!frame || !on_.load(std::memory_order_relaxed)) return {};
  return recorder_->stacks().Add({addresses.data(), taken}, {*frame});
}

// A launch outside of captures, of which its place and its numbers are kept.
void Tracer::CountSite(ThreadState& thread, const Call& call) {
  std::array<PythonFrame, EagerSites::kPythonFrames> frames;
  const std::span<const PythonFrame> python(frames.data(), python_.Take(frames));
  const bool current = thread.site_unloads == unloads_.load(std::memory_order_relaxed);
  const bool on_stack = thread.anchor - thread.stack_begin < thread.stack_end - thread.stack_begin;
  if (current && on_stack && thread.sites != nullptr &&
      thread.sites->Count(call.kernel, thread.anchor, thread.stack_end, python)) {
    return;
  }
  if (IsOnStack(thread, thread.anchor)) LearnSite(thread, call, python);
}

// The lock is let go of while the stack is taken and named.
void Tracer::LearnSite(ThreadState& thread, const Call& call, std::span<const PythonFrame> python) {
  FramePlace places[kFramesAbove + kMostFrames];
  const std::span<const FramePlace> frames(places, TakeFrames(places));
  std::unique_lock lock(mutex_);
  if (!on_.load(std::memory_order_relaxed)) return;
  if (!process_known_) LearnProcess(lock);
  if (NeedsKernel(thread, call)) LearnKernel(call, lock);
  const StackId stack = StackOf(depth_, lock);
  lock.unlock();
  std::span<const FramePlace> own;
  {
    std::lock_guard naming(names_mutex_);
    own = names_.OwnFrames(frames);
  }
  lock.lock();
  if (!on_.load(std::memory_order_relaxed)) return;
  const KernelInfo* kernel =
      recorder_->work_reader().FindKernel(call.kernel.function, call.kernel.name);
  ThreadSites& sites = recorder_->SitesOf(thread);
  if (thread.site_unloads != unloads_.load(std::memory_order_relaxed)) sites.ForgetFunctions();
  thread.site_unloads = unloads_.load(std::memory_order_relaxed);
  if (kernel != nullptr && stack)
    recorder_->eager_sites().Add(sites, call.kernel, *kernel, stack, thread.anchor, own, python);
  SayErrors();
}

void Tracer::LearnKernel(const Call& call, Lock& lock) {
  lock.unlock();
  KernelLayout layout = driver_.Layout(call.kernel.function, call.kernel.name);
  layout.code = code_.Find(layout.name);
  lock.lock();
  if (on_.load(std::memory_order_relaxed))
    recorder_->work_reader().AddKernel(call.kernel.function, std::move(layout));
}

// Of the ends of a copy in a graph: which are memory of the host that CUDA doesn't know.
void Tracer::LearnHostMemory(ThreadState& thread, Call& call, Lock& lock) {
  if (call.result != 0 || !IsRecorded(thread, call)) return;
  std::vector<TouchedMemory*> unknown;
  auto add = [&](Operation& operation) {
    for (uint32_t i = 0; i < operation.touch_count; ++i) {
      TouchedMemory& touch = operation.touches[i];
      if (touch.address != 0 && !recorder_->memory().Find(touch.address)) unknown.push_back(&touch);
    }
  };
  add(call.own);
  std::ranges::for_each(call.operations, add);
  if (unknown.empty()) return;
  lock.unlock();
  for (TouchedMemory* touch : unknown) {
    if (driver_.Knows(touch->address) != false) continue;
    touch->host = KindOf(thread, touch->address);
    thread.copies_stack |= touch->host == HostMemoryKind::kStack;
  }
  lock.lock();
}

// How far the thread's stack reaches, where the launch may copy from it; 0: it isn't known, or the
// thread runs on another stack than its own.
uint64_t Tracer::StackTop(const ThreadState& thread, const Call& call, Lock& lock) {
  if (call.kind != CallKind::kGraphLaunch || !recorder_->AsksStack(call.exec)) return 0;
  FramePlace frames[kFramesAbove];
  lock.unlock();
  const size_t count = TakeFrames(frames);
  uint64_t top = 0;
  {
    std::lock_guard naming(names_mutex_);
    top = names_.TopOf({frames, count});
  }
  lock.lock();
  return thread.stack_begin <= top && top < thread.stack_end ? top : 0;
}

// For MayMatter.
void Tracer::RememberKernel(ThreadState& thread, const Call& call) const {
  const uint64_t function = call.kernel.function;
  if (function == 0) return;
  if (thread.unloads != forgotten_) {
    thread.unloads = forgotten_;
    thread.kernels.Clear();
  }
  const KernelInfo* kernel = recorder_->work_reader().FindKernel(function, call.kernel.name);
  if (kernel != nullptr) thread.kernels.Insert(function, kernel);
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
  if (facts.driver != 0 && facts.driver < kEdgeDataSince) recorder_->WithoutEdgeData();
  file_->SetFacts(std::move(facts));
}

}  // namespace graphkit
