// Memory of other processes.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/ground/ipc_file.h"

namespace graphkit::soft::driver {

// Moves the pages of the allocation at an address into this process's file.
CUresult ShareAllocation(uint64_t address, IpcPlace* place);
// Maps an allocation of another process; once more, if it is mapped already. `is_handle`: it is
// closed by cuIpcCloseMemHandle, else freed like an allocation.
CUresult OpenShared(const IpcPlace& place, bool is_handle, CUdeviceptr* out);

}  // namespace graphkit::soft::driver
