// Memory and semaphores that another library of the process made, imported by a file descriptor.
//
//   memory object  |------------------------------------|   `size` bytes from `memory` on
//   mapped buffers      |=======|        |========|          allocations of their own
//   mapped arrays                 |====|
//
// Where the descriptor is that of a file, the bytes are the file's. The object's memory goes when
// it is destroyed and nothing is mapped onto it.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "plugins/soft_cuda/model/handle.h"

namespace graphkit::soft {

struct Gpu;

struct ExternalMemory {
  static constexpr Tag kTag = Tag::kExternalMemory;
  Tag tag = kTag;
  Gpu* gpu = nullptr;
  uint64_t block = 0;   // in the device's address space, which holds the memory
  uint64_t memory = 0;  // page-aligned
  uint64_t size = 0;    // bytes
  unsigned mapped = 0;  // buffers and arrays
  bool destroyed = false;
  uint64_t file = 0;  // of another process (ground/ipc_file.h), and the place in it; 0: none
  uint64_t offset = 0;
  bool is_handle = false;  // cudaIpcMemHandle_t: closed, not freed

  CUexternalMemory handle() { return reinterpret_cast<CUexternalMemory>(this); }
};

// External semaphores. Nothing outside the process can be reached, so they are only recorded: a
// signal sets the value, a wait returns at once.
struct Semaphore {
  static constexpr Tag kTag = Tag::kSemaphore;
  Tag tag = kTag;
  CUexternalSemaphoreHandleType type;
  uint64_t value = 0;  // of the last signal

  CUexternalSemaphore handle() { return reinterpret_cast<CUexternalSemaphore>(this); }
};

}  // namespace graphkit::soft
