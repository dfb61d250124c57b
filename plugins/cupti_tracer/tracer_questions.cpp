// Queries that the tracer needs before it can record a call: to the driver, CUPTI and the loader.
// It asks without its lock: they may be waiting, under a lock of theirs, for a callback of ours on
// another thread.
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>

#include "libgraphkit/model/graph.h"
#include "plugins/cupti_tracer/ground/large_stack.h"
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

// The stack from the callback in flight outwards, as far as frames of a driver and a few more may
// reach.
std::span<const uint64_t> StackWords(const ThreadState& thread) {
  constexpr uint64_t kMostBytes = 16 << 10;
  const uint64_t bytes = std::min(thread.stack_end - thread.anchor, kMostBytes);
  return {reinterpret_cast<const uint64_t*>(thread.anchor), bytes / sizeof(uint64_t)};
}

// On a stack that isn't the thread's own it isn't known.
bool HasRoom(ThreadState& thread) {
  constexpr uint64_t kRoom = 1 << 17;
  return IsOnStack(thread, thread.anchor) && thread.anchor - thread.stack_begin >= kRoom;
}

// Empty where the thread runs on another stack than its own, or that isn't known yet.
StackExtent ExtentOf(const ThreadState& thread) {
  const bool own = thread.anchor - thread.stack_begin < thread.stack_end - thread.stack_begin;
  return {thread.anchor, own ? thread.stack_end : 0};
}

HostMemoryKind KindOf(ThreadState& thread, uint64_t address) {
  if (IsOnStack(thread, address)) return HostMemoryKind::kStack;
  return IsLoaded(address) ? HostMemoryKind::kProgram : HostMemoryKind::kPageable;
}

}  // namespace

// The C library reads a file for the main thread's.
bool IsOnStack(ThreadState& thread, uint64_t address) {
  pthread_attr_t attributes;
  if (thread.stack_end == 0 && MayUseFiles() &&
      pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* begin = nullptr;
    size_t bytes = 0;
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    thread.stack_begin = reinterpret_cast<uint64_t>(begin);
    thread.stack_end = thread.stack_begin + bytes;
  }
  return thread.stack_begin <= address && address < thread.stack_end;
}

uint64_t StackLeft(ThreadState& thread) {
  return IsOnStack(thread, thread.anchor) ? thread.anchor - thread.stack_begin : UINT64_MAX;
}

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
  if (call.work_kind == NodeKind::kMemcpy && (call.blocking || call.to_host)) return true;
  if (call.work_kind == NodeKind::kHost) return true;  // it may let a thread go on
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

// True if the call's record has a call stack.
bool Tracer::HasStack(const ThreadState& thread, const Call& call) const {
  if (!TakesStacks(thread)) return false;
  if (call.result != 0) return call.result != kNotReady;
  return call.kind == CallKind::kWork || Is(call.kind, KindRow::kStacked) || !thread.events.empty();
}

// None: the stack has to be unwound.
StackId Tracer::KnownStack(ThreadState& thread) const {
  if (thread.taken == nullptr) thread.taken = std::make_unique<TakenStack>();
  thread.taken->TakePython(python_);
  return thread.known_stacks.Find(ExtentOf(thread), thread.taken->python());
}

// Without the lock: naming a stack takes the loader's, under which a library that is being loaded
// may call CUDA.
StackId Tracer::StackOf(ThreadState& thread) {
  const StackId known = KnownStack(thread);
  return known ? known : UnwindStack(thread);
}

void Tracer::WithNames(ThreadState& thread, const std::function<void()>& work) {
  std::lock_guard naming(names_mutex_);
  if (HasRoom(thread)) return work();
  OnLargeStack(work);
}

// After KnownStack. A cramped thread's stack was unwound before it left it.
StackId Tracer::UnwindStack(ThreadState& thread) {
  TakenStack& taken = *thread.taken;
  if (thread.stack_left >= kCramped) taken.TakeNative();
  std::unique_lock lock(mutex_);
  if (!on_.load(std::memory_order_relaxed)) return {};
  if (!process_known_) LearnProcess(lock);
  StackId stack = recorder_->stacks().Find(taken.key());
  if (!stack) {
    lock.unlock();
    std::vector<NamedFrame> frames;
    WithNames(thread, [&] {
      frames = names_.Name(taken.frames(), static_cast<size_t>(depth_), taken.python());
    });
    lock.lock();
    if (!on_.load(std::memory_order_relaxed)) return {};
    stack = recorder_->stacks().Add(taken.key(), frames);
  }
  if (IsOnStack(thread, thread.anchor))
    thread.known_stacks.Add(ExtentOf(thread), taken.frames(), taken.python(), stack);
  return stack;
}

// Of what an allocator says outside of CUPTI's callbacks.
[[gnu::noinline]] StackId Tracer::StackOfCaller(ThreadState& thread) {
  thread.anchor = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  thread.stack_left = StackLeft(thread);
  if (!TakesStacks(thread) || thread.stack_left < kCramped) return {};
  {
    std::lock_guard lock(mutex_);
    if (!process_known_) return {};  // CUDA may not be there to be asked yet
  }
  return StackOf(thread);
}

bool Tracer::MayAskForWorkspace(ThreadState& thread) {
  if (!IsOnStack(thread, thread.anchor)) return true;
  std::lock_guard naming(names_mutex_);
  return workspace_calls_.MayFind(StackWords(thread));
}

// Where no stacks were asked for: the one frame that tells a library's workspace from tensors. Few
// allocations are workspaces, and most stacks show that by their words, without being unwound.
StackId Tracer::WorkspaceStack(ThreadState& thread, Lock& lock) {
  std::array<FramePlace, kFramesAbove + 16> places;
  std::optional<NamedFrame> frame;
  lock.unlock();
  if (MayAskForWorkspace(thread)) {
    const size_t taken = TakeFrames(places);
    std::lock_guard naming(names_mutex_);
    frame = workspace_calls_.Find({places.data(), taken});
  }
  lock.lock();
  if (!frame || !on_.load(std::memory_order_relaxed)) return {};
  return recorder_->stacks().Add({}, {*frame});
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
  if (thread.taken == nullptr) thread.taken = std::make_unique<TakenStack>();
  thread.taken->TakePython(python_);
  const StackId stack = UnwindStack(thread);
  std::span<const FramePlace> own;
  WithNames(thread, [&] { own = names_.OwnFrames(thread.taken->frames()); });
  std::unique_lock lock(mutex_);
  if (!on_.load(std::memory_order_relaxed)) return;
  if (NeedsKernel(thread, call)) LearnKernel(call, lock);
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
