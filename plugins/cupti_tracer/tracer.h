// The glue between CUPTI and the recorder: one object in the process, never destroyed, because
// callbacks may come until the very end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cupti_tracer/calls/calls.h"
#include "plugins/cupti_tracer/calls/trace_file.h"
#include "plugins/cupti_tracer/driver/cupti_library.h"
#include "plugins/cupti_tracer/driver/driver_calls.h"
#include "plugins/cupti_tracer/driver/driver_library.h"
#include "plugins/cupti_tracer/ground/patient_mutex.h"
#include "plugins/cupti_tracer/recorder/recorder.h"
#include "plugins/cupti_tracer/stacks/machine_code.h"

namespace graphkit {

// Lines on stderr (say.cpp), as long as that is the file that it was when the tracer started.
// `graphkit trace` is told them too, by the socket that GRAPHKIT_TRACE_TELL names, and says those
// that the program's stderr couldn't take.
//
// Reads the environment; before the first Say, while no thread changes it.
void PrepareToSay();

void Say(std::string_view text);

// To `graphkit trace` alone: the process initialised CUDA, and there was nothing to record.
inline constexpr std::string_view kNothingToRecord = "nothing to record";
void Tell(std::string_view text);
inline constexpr std::string_view kUnsaid = "unsaid: ";  // in front of a line

// The calling thread's state; null when there is no memory for one.
ThreadState* CurrentThread();

// True if the address lies on the thread's stack, whose extent is asked for once.
bool IsOnStack(ThreadState& thread, uint64_t address);

// Bytes that are left of the thread's stack; UINT64_MAX on a stack that isn't the thread's own.
uint64_t StackLeft(ThreadState& thread);

// A thread with less left runs the tracer on another stack.
inline constexpr uint64_t kCramped = 1 << 15;
// A stack is unwound on the stack itself. A thread with less left has no call stacks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr uint64_t kStackToUnwind = 3 << 13;  // whose functions take several times as much
#else
inline constexpr uint64_t kStackToUnwind = 3 << 11;
#endif

class Tracer {
 public:
  static Tracer& Get();

  // Subscribes to CUPTI. Says on stderr, in one line, why it can't.
  bool Start();

  // Ends the trace. Whatever comes later is not recorded.
  void Finish();

  // Ends CUPTI's subscription, for another tool that is about to subscribe. The trace has the
  // reason, and no end: what is alive then isn't judged. False: nothing was being recorded.
  bool LetGo(std::string_view holder);

  void OnCallback(uint32_t domain, uint32_t id, const void* data) noexcept;

  // Runs `function(recorder, thread, time)` under the lock, unless the tracer is off or at work on
  // this thread already. For what comes from elsewhere than CUPTI. `stacked`: CallAt has the stack.
  template <typename Function>
  void With(Function function, bool stacked = false) noexcept;

  void BeforeFork() {
    mutex_.lock();
    names_mutex_.lock();
    code_.Lock();
  }
  void AfterForkInParent() {
    code_.Unlock();
    names_mutex_.unlock();
    mutex_.unlock();
  }
  void AfterForkInChild();

 private:
  using Lock = std::unique_lock<PatientMutex>;
  static constexpr size_t kCacheLine = 64;

  Tracer();

  void Dispatch(ThreadState& thread, uint32_t domain, uint32_t id, const void* data);
  void OnDriver(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data);
  void RecordLooseEvents(ThreadState& thread);
  // tracer_measure.cpp
  bool IsMeasured(const DriverCall& row, const cupti::CallbackData& data);
  void BeginMeasuring(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data);
  void EndMeasuring(ThreadState& thread, const DriverCall& row);
  // The end of a driver call, as its row and the thread's state classify it.
  struct DriverExit {
    int32_t result = 0;
    bool measured = false;  // free memory was read before and after it
    bool silent = false;    // of no graph and without a record of its own, as far as is known yet
    bool relaunch = false;  // a graph launch like most, of an exec that may be known
  };
  void OnDriverExit(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data);
  DriverExit Classify(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data);
  static void Decode(const ThreadState& thread, const DriverCall& row,
                     const cupti::CallbackData& data, const DriverExit& exit, Call& call);
  bool IsWorthRecording(ThreadState& thread, Call& call);
  bool Enrich(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data,
              Call& call);
  void RecordExit(ThreadState& thread, Call& call, bool silent, bool stacked);
  bool RecordRelaunch(ThreadState& thread, const DriverCall& row, const cupti::CallbackData& data);
  void CountWork(ThreadState& thread, Call& call);
  void CountSite(ThreadState& thread, const Call& call);
  void LearnSite(ThreadState& thread, const Call& call, std::span<const PythonFrame> python);
  void WriteCountsBefore(const ThreadState& thread, const Call& call);
  void OnRuntime(ThreadState& thread, const cupti::CallbackData& data);
  void OnExecNode(ThreadState& thread, const cupti::GraphData& data);
  void OnResource(ThreadState& thread, uint32_t id, const cupti::ResourceData& data);
  void OnModule(const cupti::ResourceData& data) noexcept;
  bool MayMatter(const ThreadState& thread, const Call& call) const;
  bool NeedsKernel(const ThreadState& thread, const Call& call);
  bool TakesStacks(const ThreadState& thread) const {
    return depth_ != 0 && thread.stack_left >= kStackToUnwind;
  }
  bool HasStack(const ThreadState& thread, const Call& call) const;
  StackId KnownStack(ThreadState& thread) const;
  StackId StackOf(ThreadState& thread);
  StackId UnwindStack(ThreadState& thread);
  StackId StackOfCaller(ThreadState& thread);
  void WithNames(ThreadState& thread, const std::function<void()>& work);
  bool MayAskForWorkspace(ThreadState& thread);
  StackId WorkspaceStack(ThreadState& thread, Lock& lock);
  void RememberKernel(ThreadState& thread, const Call& call) const;
  void LearnKernel(const Call& call, Lock& lock);
  static bool IsRecorded(const ThreadState& thread, const Call& call);
  void LearnHostMemory(ThreadState& thread, Call& call, Lock& lock);
  uint64_t StackTop(const ThreadState& thread, const Call& call, Lock& lock);
  int32_t DeviceOf(uint64_t context, Lock& lock);
  void LearnProcess(Lock& lock);
  void EnableCallbacks();
  uint64_t Now() const;
  void SwitchOff(std::string_view why);
  void SwitchOffCaught() noexcept;  // for what the exception says that is being handled
  void SayErrors();

  // Read by every callback; what the lock guards lies elsewhere, so that the lock's users don't
  // take the line from the others.
  std::atomic<bool> on_{false};
  bool eager_ = false;    // GRAPHKIT_TRACE_SCOPE=all
  bool measure_ = false;  // GRAPHKIT_TRACE_MEASURE_EXECS
  int depth_ = 0;         // of call stacks; 0: none are taken
  uint64_t epoch_;
  CuptiLibrary cupti_;
  DriverLibrary driver_;
  MachineCode code_;
  std::atomic<uint64_t> unloads_ = 0;  // of modules: their functions' handles may be others' next
  uint64_t forgotten_ = 0;             // of these, before the functions known were forgotten last
  void* subscriber_ = nullptr;
  std::unique_ptr<TraceFile> file_;
  std::unique_ptr<Recorder> recorder_;
  alignas(kCacheLine) PatientMutex mutex_;
  std::vector<std::pair<uint64_t, int32_t>> devices_;  // by context
  bool process_known_ = false;
  bool launched_ = false;       // a graph
  uint32_t sites_written_ = 0;  // times
  bool said_ = false;
  // Calls that take or give back memory, where execs are measured: in flight, and ever begun.
  std::atomic<uint64_t> takers_now_{0};
  std::atomic<uint64_t> takers_{0};
  std::mutex names_mutex_;
  WorkspaceCalls workspace_calls_;
  StackNames names_;
  Python python_;
};

template <typename Function>
void Tracer::With(Function function, bool stacked) noexcept {
  ThreadState* thread = on_.load(std::memory_order_relaxed) ? CurrentThread() : nullptr;
  const Inside inside(thread);
  if (!inside) return;
  try {
    uint64_t now = Now();
    thread->said_stack = stacked ? StackOfCaller(*thread) : StackId();
    std::lock_guard lock(mutex_);
    if (on_.load(std::memory_order_relaxed)) function(*recorder_, *thread, now);
    SayErrors();
  } catch (...) {
    SwitchOffCaught();
  }
}

}  // namespace graphkit
