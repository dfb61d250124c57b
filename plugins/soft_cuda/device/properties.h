// The figures of modelled devices that no setting changes: those of an H200-like GPU.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

namespace graphkit::soft {

struct Gpu;

constexpr int kDriverVersion = 13000;
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

}  // namespace graphkit::soft
