// The figures of modelled devices that no setting changes: those of an H200-like GPU.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

namespace graphkit::soft {

struct Gpu;

// As cuDriverGetVersion gives it: of CUDA 13.0, or what GRAPHKIT_SOFT_DRIVER=12.1 names. Of an
// older driver's rules only those of edge data are modelled.
int DriverVersion();
// Edges have data since CUDA 12.3; before, each is a full one.
inline bool HasEdgeData() { return DriverVersion() >= 12030; }

constexpr int kGreatestPriority = -5;
constexpr int kLeastPriority = 0;
constexpr int kMostPitch = 2147483647;  // bytes

// Modelled durations.
constexpr uint64_t kKernelNs = 5000;
constexpr uint64_t kNodeNs = 1000;
constexpr uint64_t kBytesPerNs = 1000;

// The driver's name for a place on the bus: "0000:01:00.0".
std::string PciBusId(const Gpu& gpu);
CUuuid UuidOf(const Gpu& gpu);
std::string UuidText(const Gpu& gpu);  // "GPU-67726170-…", as NVML writes it
// False: the attribute isn't known.
bool DeviceAttribute(const Gpu& gpu, CUdevice_attribute attribute, int* value);

// The properties of devices of a compute capability. From the table of technical specifications in
// the CUDA programming guide.
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
