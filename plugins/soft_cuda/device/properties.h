// The figures of the modelled device: an H200-like GPU.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace graphkit::soft {

constexpr char kDeviceName[] = "graphkit soft device (H200-like)";
constexpr uint64_t kTotalBytes = uint64_t{141} << 30;
constexpr unsigned kArchitecture = 90;
constexpr int kDriverVersion = 13000;
constexpr int kGreatestPriority = -5;
constexpr int kLeastPriority = 0;
constexpr int kMultiprocessors = 132;
constexpr char kPciBusId[] = "0000:01:00.0";

// Modelled durations.
constexpr uint64_t kKernelNs = 5000;
constexpr uint64_t kNodeNs = 1000;
constexpr uint64_t kBytesPerNs = 1000;

// False: the attribute isn't known.
bool DeviceAttribute(CUdevice_attribute attribute, int* value);

}  // namespace graphkit::soft
