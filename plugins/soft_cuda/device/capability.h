// What devices of a compute capability have. From the table of technical specifications in the CUDA
// programming guide.
#pragma once

namespace graphkit::soft {

struct Capability {
  unsigned architecture;        // 90: compute capability 9.0
  int threads;                  // of a multiprocessor
  int blocks;                   // of a multiprocessor
  int shared_bytes;             // of a multiprocessor
  int shared_per_block_opt_in;  // bytes
};

// The row of the architecture; the nearest one below for those that have none.
const Capability& CapabilityOf(unsigned architecture);

constexpr int kWarp = 32;
constexpr int kRegisters = 65536;       // of a multiprocessor, and of a block
constexpr int kSharedPerBlock = 49152;  // without opting in
constexpr int kRegisterUnit = 256;      // registers are given to a warp in these steps

// Bytes of shared memory that the system takes of each block; none before 8.0.
constexpr int ReservedShared(unsigned architecture) { return architecture >= 80 ? 1024 : 0; }

}  // namespace graphkit::soft
