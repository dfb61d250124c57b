#include "plugins/soft_cuda/driver/stream/ipc_event.h"

#include <unistd.h>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/ground/ipc_file.h"

namespace graphkit::soft::driver {
namespace {

constexpr uint64_t kStates = kIpcEventBytes / sizeof(IpcEvent);

// The states in this process's file that no event has.
std::vector<IpcEvent*>& IdleStates() {
  static auto* const idle = new std::vector<IpcEvent*>;
  return *idle;
}

CUresult ShareEvent(Event* event, IpcPlace* place) {
  static const IpcEvent* first = nullptr;
  const OpenFile open(OpenOwnIpcFile(place));
  IpcEvent* states = open.file >= 0 ? MapIpcEvents(*place, open.file) : nullptr;
  std::vector<IpcEvent*>& idle = IdleStates();
  if (states != nullptr && std::exchange(first, states) != states) {
    idle.clear();
    for (uint64_t i = kStates; i-- > 0;) idle.push_back(&states[i]);
  }
  if (states == nullptr || (event->shared == nullptr && idle.empty())) {
    Explain("an event can't be shared: /dev/shm has no room, or 65 536 are in use");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (event->shared == nullptr) {
    event->shared = idle.back();
    idle.pop_back();
    event->shared->recorded = event->shared->done = 0;
    if (event->recorded) {
      event->shared->recorded = 1;
      Device::Get().worker.Add(std::make_shared<WorkLine>(),
                               {.what = "an event",
                                .after = {event->mark},
                                .run = [state = event->shared] { state->Finish(1); }});
    }
  }
  place->offset = static_cast<uint64_t>(event->shared - states);
  return CUDA_SUCCESS;
}

}  // namespace

void RecordShared(Stream* stream, Event* event) {
  IpcEvent* state = event->shared;
  const uint64_t number = ++state->recorded;
  Push(stream, {.what = "an event", .run = [state, number] { state->Finish(number); }});
}

void DropShared(const Event& event) {
  if (event.shared != nullptr && event.process == 0) IdleStates().push_back(event.shared);
}

Work WaitForShared(const Event& event) {
  const IpcEvent* state = event.shared;
  return {.what = "an event of another process",
          .ready =
              [state, number = state->recorded.load(), process = event.process] {
                return state->IsDone(number) || (process != 0 && !IsRunning(process));
              },
          .is_of_another = true};
}

CUresult IpcGetEventHandle(CUipcEventHandle* out, CUevent handle) {
  const Lock lock = LockDevice();
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || (event->flags & CU_EVENT_INTERPROCESS) == 0 || event->process != 0)
    return CUDA_ERROR_INVALID_VALUE;
  IpcPlace place{};
  const CUresult result = ShareEvent(event, &place);
  if (result == CUDA_SUCCESS) std::memcpy(out, &place, sizeof place);
  return result;
}

CUresult IpcOpenEventHandle(CUevent* out, CUipcEventHandle handle) {
  const Lock lock = LockDevice();
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const IpcPlace place = PlaceOf(handle);
  if (place.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  const OpenFile open(OpenIpcFile(place));
  IpcEvent* states = open.file >= 0 ? MapIpcEvents(place, open.file) : nullptr;
  if (states == nullptr || place.offset >= kStates) return CUDA_ERROR_INVALID_HANDLE;
  Event* event = Device::Get().events.Make();
  event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
  event->context = CurrentContext();
  event->shared = &states[place.offset];
  event->process = place.process;
  *out = event->handle();
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
