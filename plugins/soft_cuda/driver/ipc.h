// Memory and events of other processes.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/ipc_file.h"
#include "plugins/soft_cuda/model/external_memory.h"
#include "plugins/soft_cuda/model/stream.h"

namespace graphkit::soft::driver {

// Moves the pages of the allocation at an address into this process's file.
CUresult ShareAllocation(uint64_t address, IpcPlace* place);
// Maps an allocation of another process; once more, if it is mapped already. `is_handle`: it is
// closed by cuIpcCloseMemHandle, else freed like an allocation.
CUresult OpenShared(const IpcPlace& place, bool is_handle, CUdeviceptr* out);

// For an event that processes share: the next record of a stream, and what waits for the last one.
void RecordShared(Stream* stream, Event* event);
Work WaitForShared(const Event& event);
// The event is destroyed.
void DropShared(const Event& event);

}  // namespace graphkit::soft::driver
