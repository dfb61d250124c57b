// What kernels' machine code says: whether a kernel waits for its grid dependencies
// (griddepcontrol.wait, cudaGridDependencySynchronize), without which a programmatic edge into it
// doesn't mean that the work before has ended.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/model/process.h"

namespace graphkit {

struct KernelWaits {
  std::string_view name;  // mangled; points into the cubin
  Ternary waits;
  bool operator==(const KernelWaits&) const = default;
};

// The kernels of a cubin (an ELF) for compute capability 9.0 or later; none for anything else.
//   yes      every way through the kernel waits, as far as jumps with a known target tell
//   no       nothing in it waits
//   unknown  it waits on some ways, or goes where the code doesn't tell
// ACQBULK is 0x82e in the low 12 bits of an instruction's 128, and jumps hold their distance in
// words in bits 16-23 and 34-81: so in nvcc 13's cubins for sm_90, sm_100 and sm_120, as nvdisasm
// 13 reads them.
std::vector<KernelWaits> ReadKernelWaits(std::string_view cubin);

// What was read of all modules that the process has loaded. Thread safe; calls nothing of CUDA.
class MachineCode {
 public:
  void Learn(std::string_view cubin);

  // Unknown for a kernel never seen, and where two modules differ under one name.
  Ternary Waits(const std::string& kernel) const;

  void Lock() { mutex_.lock(); }  // over a fork
  void Unlock() { mutex_.unlock(); }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Ternary, std::less<>> waits_;
};

}  // namespace graphkit
