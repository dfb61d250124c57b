// Programmatic launches in kernels' machine code: if a kernel waits for its grid dependencies
// (griddepcontrol.wait, cudaGridDependencySynchronize), without which a programmatic edge into it
// doesn't mean that the work before has ended; and if it lets its dependents start before its end
// (griddepcontrol.launch_dependents, cudaTriggerProgrammaticLaunchCompletion), and may write to
// global memory after that.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/process.h"

namespace graphkit {

struct KernelCode {
  Ternary waits = Ternary::kUnknown;
  Triggers triggers = Triggers::kUnknown;
  Ternary writes_after_trigger = Ternary::kUnknown;
  bool operator==(const KernelCode&) const = default;
};

struct NamedKernelCode {
  std::string_view name;  // mangled; points into the cubin
  KernelCode code;
  bool operator==(const NamedKernelCode&) const = default;
};

// The kernels of a cubin (an ELF) for compute capability 9.0 or later; none for anything else.
//   waits     yes      every way through the kernel waits, as far as jumps with a known target tell
//             no       nothing in it waits
//             unknown  it waits on some ways; where `triggers` is unknown as well, what it calls
//                      may wait
//   triggers  yes, no  the same
//             some     it triggers, and some way may miss that
//             unknown  what it calls may trigger, or wait
//   writes_after_trigger
//             yes      some way leads from a trigger to a store, an atomic operation or a bulk copy
//                      that may reach global memory; whether it is ever taken isn't known
//             no       none does, and all ways from triggers are known
//             unknown  else, and where nothing is known to trigger
// ACQBULK is 0x82e and PREEXIT 0x82d in the low 12 bits of an instruction's 128, and jumps hold
// their distance in words in bits 16-23 and 34-81: so in nvcc 13's cubins for sm_90, sm_100 and
// sm_120, as nvdisasm 13 reads them.
std::vector<NamedKernelCode> ReadKernelCode(std::string_view cubin);

// Facts from the machine code of all loaded modules. Thread safe; calls nothing of CUDA.
class MachineCode {
 public:
  void Learn(std::string_view cubin);

  // Unknown for a kernel never seen, and what two modules differ in under one name.
  KernelCode Find(const std::string& kernel) const;

  void Lock() { mutex_.lock(); }  // over a fork
  void Unlock() { mutex_.unlock(); }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, KernelCode, std::less<>> kernels_;
};

}  // namespace graphkit
