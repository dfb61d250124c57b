#include "plugins/cupti_tracer/tracer.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string>

#include "plugins/cupti_tracer/ground/large_stack.h"

namespace graphkit {
namespace {

// The library stays loaded to the end, and this is all that it has of the static thread-local
// storage.
[[gnu::tls_model("initial-exec")]] thread_local ThreadState* this_thread = nullptr;

void EndThread(void* state) {
  this_thread = nullptr;
  delete static_cast<ThreadState*>(state);
}

pthread_key_t ThreadKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, EndThread);
    return made;
  }();
  return key;
}

uint64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t Handle(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void Subscribed(void* tracer, uint32_t domain, uint32_t id, const void* data) {
  static_cast<Tracer*>(tracer)->OnCallback(domain, id, data);
}

}  // namespace

ThreadState* CurrentThread() {
  if (this_thread != nullptr) return this_thread;
  auto* state = new (std::nothrow) ThreadState;
  if (state == nullptr) return nullptr;
  state->tid = syscall(SYS_gettid);
  char name[32] = "";
  if (pthread_getname_np(pthread_self(), name, sizeof name) == 0) state->name = name;
  pthread_setspecific(ThreadKey(), state);
  return this_thread = state;
}

Tracer& Tracer::Get() {
  static Tracer* const tracer = new Tracer;  // callbacks may come after static destructors
  return *tracer;
}

Tracer::Tracer() : epoch_(MonotonicNow()) {}

uint64_t Tracer::Now() const { return MonotonicNow() - epoch_; }

bool Tracer::Start() {
  PrepareToSay();
  int result = cupti::kSuccess;
  cupti_ = OpenCupti([this, &result](const CuptiLibrary& cupti) {
    result = Subscribe(cupti, &subscriber_, Subscribed, this);
    return result != cupti::kNotInitialized;
  });
  if (!cupti_.found() && result == cupti::kNotInitialized) {
    Say("this CUPTI is for a later driver: nothing is recorded; install the CUPTI of the driver's "
        "CUDA version, or a later driver");
    return false;
  }
  if (!cupti_.found()) {
    Say("no libcupti found: nothing is recorded; install CUPTI (part of the CUDA toolkit), or put "
        "its folder on LD_LIBRARY_PATH");
    return false;
  }
  if (result == cupti::kMultipleSubscribers) {
    Say(HolderText(FindHolder(cupti_)));
    return false;
  }
  if (result != cupti::kSuccess) {
    Say("CUPTI (" + cupti_.path + ") refuses with error " + std::to_string(result) +
        ": nothing is recorded");
    return false;
  }
  driver_.Bind();
  TraceTarget target = TargetFromEnvironment();
  target.device = IsSoftwareDevice() ? "soft" : "cuda";
  const char* scope = std::getenv("GRAPHKIT_TRACE_SCOPE");
  eager_ = target.all_work = scope != nullptr && std::string_view(scope) == "all";
  file_ = std::make_unique<TraceFile>(std::move(target), epoch_);
  const char* stacks = std::getenv("GRAPHKIT_TRACE_STACKS");
  const bool asked = stacks != nullptr && *stacks != '\0';
  depth_ = asked ? std::clamp(std::atoi(stacks), 0, kMostFrames) : kMostFrames;
  python_.Find();
  if (asked && depth_ != 0 && !python_.unknown().empty()) {
    Say("the frames of Python " + python_.unknown() +
        " aren't known: call stacks have native frames only (3.11, 3.12 and 3.13 are known)");
  }
  const char* measure = std::getenv("GRAPHKIT_TRACE_MEASURE_EXECS");
  measure_ = measure != nullptr && std::string_view(measure) == "1";
  recorder_ = std::make_unique<Recorder>(*file_, eager_);
  if (ThreadState* thread = CurrentThread()) IsOnStack(*thread, 0);
  on_ = true;
  EnableCallbacks();
  return true;
}

void Tracer::EnableCallbacks() {
  auto enable = [this](uint32_t domain, uint32_t id) {
    cupti_.enable_callback(1, subscriber_, domain, id);  // refused where this CUPTI lacks it
  };
  for (const DriverCall& call : DriverCalls()) enable(cupti::kDriverDomain, call.id);
  for (uint32_t id = 1; id < kRuntimeCallLimit; ++id) {
    if (!IsRuntimeNoise(id)) enable(cupti::kRuntimeDomain, id);
  }
  for (uint32_t id :
       {cupti::kGraphCreated, cupti::kGraphDestroyStarting, cupti::kNodeCreateStarting,
        cupti::kDependencyCreated, cupti::kDependencyDestroyStarting, cupti::kGraphCloned,
        cupti::kNodeCloned, cupti::kModuleLoaded, cupti::kModuleUnloadStarting}) {
    enable(cupti::kResourceDomain, id);
  }
}

void Tracer::SwitchOff(std::string_view why) {
  if (!on_.exchange(false)) return;
  char line[256];  // there may be no memory
  std::snprintf(line, sizeof line, "%.*s: nothing more is recorded",
                static_cast<int>(std::min<size_t>(why.size(), 200)), why.data());
  Say(line);
}

void Tracer::SwitchOffCaught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    SwitchOff("out of memory");
  } catch (const std::exception& error) {
    SwitchOff(error.what());
  } catch (...) {
    SwitchOff("unexpected: something was thrown that is no std::exception");
  }
}

void Tracer::SayErrors() {
  if (said_ || file_ == nullptr || file_->error().empty()) return;
  said_ = true;
  Say(file_->error());
  if (!file_->is_open()) on_ = false;
}

void Tracer::Finish() {
  if (file_ == nullptr) return;
  std::lock_guard lock(mutex_);
  on_ = false;
  if (ThreadState* thread = CurrentThread()) recorder_->memory().Settle(*thread);
  if (file_->begun() && !eager_) recorder_->WriteCounts(Now(), true);
  if (file_->begun()) recorder_->WriteSites(Now());
  if (!file_->begun()) Tell(kNothingToRecord);
  file_->Finish(recorder_->counts());
  SayErrors();
}

bool Tracer::LetGo(std::string_view holder) {
  {
    std::lock_guard lock(mutex_);
    if (!on_.exchange(false)) return false;
    if (file_->begun()) {
      if (ThreadState* thread = CurrentThread()) recorder_->memory().Settle(*thread);
      if (!eager_) recorder_->WriteCounts(Now(), true);
      recorder_->WriteStop("recording ended early, so that " + std::string(holder) +
                           " could subscribe to CUPTI: what came later isn't known");
      file_->Stop();
    }
  }
  // Without the lock: CUPTI may wait for callbacks, and these for the lock.
  if (cupti_.unsubscribe != nullptr) cupti_.unsubscribe(std::exchange(subscriber_, nullptr));
  Say(std::string(holder) + " needs CUPTI: recording ends here");
  return true;
}

void Tracer::AfterForkInChild() {
  if (file_ != nullptr && subscriber_ != nullptr) {
    file_->Forked();
    recorder_ = std::make_unique<Recorder>(*file_, eager_);
    process_known_ = launched_ = false;
    sites_written_ = 0;
  }
  if (ThreadState* thread = this_thread) {
    *thread = ThreadState();
    thread->tid = syscall(SYS_gettid);
  }
  code_.Unlock();
  names_mutex_.unlock();
  mutex_.unlock();
}

void Tracer::OnCallback(uint32_t domain, uint32_t id, const void* data) noexcept {
  if (!on_.load(std::memory_order_relaxed) || data == nullptr) return;
  if (domain == cupti::kResourceDomain && id == cupti::kModuleLoaded) {
    return OnModule(*static_cast<const cupti::ResourceData*>(data));
  }
  if (domain == cupti::kResourceDomain && id == cupti::kModuleUnloadStarting) {
    unloads_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ThreadState* thread = CurrentThread();
  const Inside inside(thread);
  if (!inside) return;
  thread->anchor = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  try {
    thread->stack_left = StackLeft(*thread);
    if (thread->stack_left >= kCramped) {
      Dispatch(*thread, domain, id, data);
    } else {
      if (TakesStacks(*thread) && !KnownStack(*thread)) thread->taken->TakeNative();
      // One reference, which std::function holds without memory of its own: malloc may need more
      // stack than there is.
      const auto dispatch = [&] { Dispatch(*thread, domain, id, data); };
      OnLargeStack([&dispatch] { dispatch(); });
    }
  } catch (...) {
    SwitchOffCaught();
  }
}

void Tracer::Dispatch(ThreadState& thread, uint32_t domain, uint32_t id, const void* data) {
  if (domain == cupti::kDriverDomain) {
    const DriverCall* row = FindDriverCall(id);
    if (row != nullptr) OnDriver(thread, *row, *static_cast<const cupti::CallbackData*>(data));
  } else if (domain == cupti::kRuntimeDomain) {
    OnRuntime(thread, *static_cast<const cupti::CallbackData*>(data));
  } else if (domain == cupti::kResourceDomain) {
    OnResource(thread, id, *static_cast<const cupti::ResourceData*>(data));
  }
}

void Tracer::OnResource(ThreadState& thread, uint32_t id, const cupti::ResourceData& data) {
  if (data.descriptor == nullptr) return;
  const auto& graph = *static_cast<const cupti::GraphData*>(data.descriptor);
  if (thread.internal_call) {
    if (thread.instantiates && id == cupti::kNodeCloned) OnExecNode(thread, graph);
    return;
  }
  if (id == cupti::kGraphDestroyStarting) {
    std::lock_guard lock(mutex_);
    if (on_.load(std::memory_order_relaxed)) {
      recorder_->OnGraphDestroyed(thread, Handle(graph.graph));
      SayErrors();
    }
    return;
  }
  GraphEvent& event = thread.events.emplace_back();
  event.kind = static_cast<GraphEventKind>(id);
  event.graph = Handle(graph.graph);
  event.node = Handle(graph.node);
  event.dependency = Handle(graph.dependency);
  event.node_type = static_cast<uint8_t>(graph.node_type);
  if (id == cupti::kGraphCreated || id == cupti::kGraphCloned || id == cupti::kNodeCloned) {
    event.original_graph = Handle(graph.original_graph);
    event.original_node = Handle(graph.original_node);
  }
  uint32_t tool_id = 0;
  if (id == cupti::kGraphCreated && cupti_.graph_id != nullptr &&
      cupti_.graph_id(graph.graph, &tool_id) == cupti::kSuccess) {
    event.tool_id = tool_id;
  }
}

void Tracer::OnExecNode(ThreadState& thread, const cupti::GraphData& data) {
  uint64_t id = 0;
  if (cupti_.node_id == nullptr || cupti_.node_id(data.node, &id) != cupti::kSuccess) id = 0;
  thread.exec_nodes.push_back({Handle(data.original_node), id, Handle(data.node),
                               Handle(data.graph), Handle(data.original_graph)});
}

// Also inside of calls of our own: a kernel's first query may load its module. The cubin is there
// for this callback only.
void Tracer::OnModule(const cupti::ResourceData& data) noexcept try {
  if (data.descriptor == nullptr) return;
  const auto& module = *static_cast<const cupti::ModuleData*>(data.descriptor);
  if (module.cubin != nullptr) code_.Learn({module.cubin, module.cubin_size});
} catch (...) {
  SwitchOffCaught();
}

void Tracer::OnRuntime(ThreadState& thread, const cupti::CallbackData& data) {
  if (data.site == cupti::kApiEnter) {
    if (thread.runtime_depth++ > 0) return;
    thread.runtime_call = data.function_name;
    thread.correlation = data.correlation_id;
    return;
  }
  if (thread.runtime_depth > 0 && --thread.runtime_depth > 0) return;
  int32_t error = data.return_value ? *static_cast<const int32_t*>(data.return_value) : 0;
  if (error != 0 && thread.runtime_call != nullptr) {
    Call call;
    call.name = data.function_name;
    call.time = Now();
    call.context = Handle(data.context);
    if (depth_ != 0 && !thread.failure_told && error != kNotReady) call.stack = StackOf(thread);
    std::lock_guard lock(mutex_);
    if (on_.load(std::memory_order_relaxed)) recorder_->RuntimeFailed(thread, call, error);
  }
  thread.runtime_call = nullptr;
  thread.correlation = 0;
  thread.failed = 0;
  thread.failed_on = {};
  thread.failure_told = thread.failed_matters = false;
}

void Tracer::OnDriver(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data) {
  if (data.site == cupti::kApiExit) return OnDriverExit(thread, row, data);
  if (thread.driver_depth++ == 0) {
    thread.exec_nodes.clear();
    thread.going.clear();
    if (!thread.events.empty()) RecordLooseEvents(thread);
    if (measure_) BeginMeasuring(thread, row, data);
  }
  if (Is(row.kind, KindRow::kInternal)) thread.internal_call = true;
  if (row.kind == CallKind::kInstantiate) thread.instantiates = true;
  if (TakenBy(row.kind) == Taken::kNothing) return;
  Call call;
  call.kind = row.kind;
  call.context = Handle(data.context);
  row.decode({data.params, &row, false}, call);
  std::lock_guard lock(mutex_);
  if (on_.load(std::memory_order_relaxed)) recorder_->Enter(thread, call);
}

void Tracer::RecordLooseEvents(ThreadState& thread) {
  std::lock_guard lock(mutex_);
  if (on_.load(std::memory_order_relaxed)) recorder_->LooseEvents(thread, Now());
}

void Tracer::OnDriverExit(ThreadState& thread, const DriverCall& row,
                          const cupti::CallbackData& data) {
  const DriverExit exit = Classify(thread, row, data);
  if (exit.relaunch && RecordRelaunch(thread, row, data)) return;
  if (exit.silent && row.kind != CallKind::kWork) return;
  Call call;
  Decode(thread, row, data, exit, call);
  if (exit.silent && !IsWorthRecording(thread, call)) return;
  const bool stacked = Enrich(thread, row, data, call);
  RecordExit(thread, call, exit.silent, stacked);
}

// Step 1: what the end of a call is, by the thread's state and the row of its kind.
Tracer::DriverExit Tracer::Classify(ThreadState& thread, const DriverCall& row,
                                    const cupti::CallbackData& data) {
  if (thread.driver_depth > 0 && --thread.driver_depth == 0 && measure_) EndMeasuring(thread, row);
  if (Is(row.kind, KindRow::kInternal)) thread.internal_call = thread.instantiates = false;
  DriverExit exit;
  exit.result = data.return_value ? *static_cast<const int32_t*>(data.return_value) : 0;
  exit.measured = thread.driver_depth == 0 && std::exchange(thread.measuring, false);
  const bool plain = exit.result == 0 && thread.events.empty() && !exit.measured;
  exit.silent = plain && Is(row.kind, KindRow::kSilent);
  exit.relaunch = plain && row.kind == CallKind::kGraphLaunch;
  return exit;
}

// Step 2: its parameters.
void Tracer::Decode(const ThreadState& thread, const DriverCall& row,
                    const cupti::CallbackData& data, const DriverExit& exit, Call& call) {
  call.kind = row.kind;
  call.result = exit.result;
  call.name = data.function_name;
  call.context = Handle(data.context);
  call.correlation = thread.correlation != 0 ? thread.correlation : data.correlation_id;
  call.kernel.name = data.symbol_name;
  if (exit.measured) call.measured = &thread.free_memory;
  if (row.decode != nullptr) row.decode({data.params, &row, exit.result == 0}, call);
}

// Work that isn't captured is counted, and recorded itself only where it may matter.
bool Tracer::IsWorthRecording(ThreadState& thread, Call& call) {
  if (!eager_) CountWork(thread, call);
  if (TakesStacks(thread) && call.kernel.function != 0) CountSite(thread, call);
  return (eager_ || !recorder_->watch().idle()) && MayMatter(thread, call);
}

// Step 3: what can be asked for without the lock. True: the call has a stack.
bool Tracer::Enrich(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data,
                    Call& call) {
  call.time = Now();
  if (call.result != 0) {
    ReadArguments(row.id, data.params, thread.arguments);
    call.arguments = thread.arguments;
  }
  if (call.result == 0 && call.kind == CallKind::kInstantiate && cupti_.exec_id != nullptr) {
    uint32_t id = 0;
    if (cupti_.exec_id(reinterpret_cast<void*>(call.exec), &id) == cupti::kSuccess)
      call.tool_id = id;
  }
  if (call.kind == CallKind::kAlloc && call.mapping && call.size == 0)
    call.size = driver_.SizeAt(call.address);
  const bool stacked = HasStack(thread, call);
  if (stacked) call.stack = StackOf(thread);
  return stacked;
}

// Step 4: the record. The lock is let go of while the driver is asked: the trace may end meanwhile.
void Tracer::RecordExit(ThreadState& thread, Call& call, bool silent, bool stacked) {
  std::unique_lock lock(mutex_);
  if (!on_.load(std::memory_order_relaxed)) return;
  if (!process_known_) LearnProcess(lock);
  call.device = DeviceOf(call.context, lock);
  if (NeedsKernel(thread, call)) LearnKernel(call, lock);
  if (call.work_kind == NodeKind::kMemcpy) LearnHostMemory(thread, call, lock);
  if (thread.copies_stack) call.stack_top = StackTop(thread, call, lock);
  if (silent) RememberKernel(thread, call);
  if (!stacked && call.kind == CallKind::kAlloc && python_.known())
    call.stack = WorkspaceStack(thread, lock);
  if (!on_.load(std::memory_order_relaxed)) return;
  WriteCountsBefore(thread, call);
  recorder_->Exit(thread, call);
  thread.events.clear();
  SayErrors();
}

// Most launches are of an exec that was launched before: nothing has to be asked for them.
bool Tracer::RecordRelaunch(ThreadState& thread, const DriverCall& row,
                            const cupti::CallbackData& data) {
  GraphLaunch launch = ReadLaunch({data.params, &row, true});
  launch.context = Handle(data.context);
  launch.correlation = thread.correlation != 0 ? thread.correlation : data.correlation_id;
  launch.time = Now();
  if (TakesStacks(thread)) launch.stack = StackOf(thread);
  std::lock_guard lock(mutex_);
  if (!on_.load(std::memory_order_relaxed)) return true;
  const bool recorded = recorder_->Relaunch(thread, launch);
  SayErrors();
  return recorded;
}

// Work outside of captures, of which only how much there is is recorded.
void Tracer::CountWork(ThreadState& thread, Call& call) {
  const EagerCounts::Outcome counted = recorder_->eager_counts().Count(thread, call);
  if (counted == EagerCounts::Outcome::kCounted) return;
  call.time = Now();
  std::unique_lock lock(mutex_);
  if (!on_.load(std::memory_order_relaxed)) return;
  if (!process_known_) LearnProcess(lock);
  call.device = DeviceOf(call.context, lock);
  if (!on_.load(std::memory_order_relaxed)) return;
  recorder_->SettleCount(thread, call, counted);
  SayErrors();
}

// Work is counted apart before, in and after a capture, and before and after the first launch.
void Tracer::WriteCountsBefore(const ThreadState& thread, const Call& call) {
  const bool launch = call.kind == CallKind::kGraphLaunch && thread.events.empty();
  const bool first_launch = launch && call.result == 0 && !launched_;
  launched_ |= first_launch;
  if (first_launch || call.kind == CallKind::kBeginCapture || call.kind == CallKind::kEndCapture ||
      call.kind == CallKind::kStreamDestroy) {
    recorder_->WriteCounts(call.time);
  }
  constexpr uint32_t kMostWritten = 64;  // later captures find the places of the last record
  if (call.kind == CallKind::kBeginCapture && call.result == 0 && sites_written_ < kMostWritten) {
    ++sites_written_;
    recorder_->WriteSites(call.time);
  }
  if (call.kind == CallKind::kStreamDestroy) recorder_->eager_counts().Forget(call.stream);
}

}  // namespace graphkit
