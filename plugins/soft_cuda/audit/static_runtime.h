// Leads the functions of a CUDA runtime that is linked into a program or library to the software
// device's own libcudart: the first bytes of each become a jump. For x86-64.
//
//     cudaMalloc:  jmp ──► landing 17:  jmp *slot 17 ──► libcudart.so.13, cudaMalloc
//                                       (until the first call: push 17; jmp ResolveAll)
//
// Landings lie within the 2 GiB that the jump reaches. The library is opened at the first call, not
// when the object is loaded: the loader is at work then.
#pragma once

#include <cstddef>
#include <cstdint>

namespace graphkit {

enum class LedRuntime {
  kNone,     // no CUDA runtime is inside, or no symbol table
  kLed,      // its functions lead to the software device
  kTooOld,   // a runtime of before CUDA 12
  kRefused,  // its code can't be changed: errno says why
};

// `path` is the object's file, `base` what its addresses are relative to, `folder` where libcudart
// of the software device lies. What is led stays so until the process ends.
LedRuntime LeadStaticRuntime(const char* path, uint64_t base, const char* folder);

}  // namespace graphkit
