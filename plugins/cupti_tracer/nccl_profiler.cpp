// NCCL's profiler plugin, as NCCL_PROFILER_PLUGIN names it (plugins/profiler of NCCL, interface 4:
// NCCL 2.27 and later): it is told of each communicator, and asks for no event.
#include <cstdint>

#include "plugins/cupti_tracer/tracer.h"

namespace {

constexpr int kSuccess = 0;

int Init(void** context, int* events, const char*, uint64_t key, int, int ranks, int rank, void*) {
  using namespace graphkit;
  if (context != nullptr) *context = nullptr;
  if (events != nullptr) *events = 0;
  Tracer::Get().With([&](Recorder& recorder, ThreadState& thread, uint64_t) {
    recorder.communicators().OnCommunicator(thread, key, ranks, rank);
  });
  return kSuccess;
}
int StartEvent(void*, void** event, void*) {
  if (event != nullptr) *event = nullptr;
  return kSuccess;
}
int StopEvent(void*) { return kSuccess; }
int RecordEventState(void*, int, void*) { return kSuccess; }
int Finalize(void*) { return kSuccess; }

struct NcclProfiler {  // ncclProfiler_v4_t
  const char* name;
  int (*init)(void**, int*, const char*, uint64_t, int, int, int, void*);
  int (*start_event)(void*, void**, void*);
  int (*stop_event)(void*);
  int (*record_event_state)(void*, int, void*);
  int (*finalize)(void*);
};

}  // namespace

extern "C" {
extern __attribute__((visibility("default"))) const NcclProfiler ncclProfiler_v4;
const NcclProfiler ncclProfiler_v4 = {"graphkit",       Init,    StartEvent, StopEvent,
                                      RecordEventState, Finalize};
}
