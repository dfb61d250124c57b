// What explicit nodes and captured work have in common in the driver's parameters.
#pragma once

#include <cuda.h>

#include "plugins/cupti_tracer/calls.h"

namespace graphkit::decode {

// A kernel's arguments, as pointers or as one buffer.
void Arguments(void** arguments, void** extra, KernelWork& work);

// What a copy reads and writes.
void CopyEnds(const CUDA_MEMCPY3D& copy, Call& call);

// What a memset of rows writes.
void SetRange(uint64_t address, uint64_t pitch, uint64_t width_bytes, uint64_t height, Call& call);

}  // namespace graphkit::decode
