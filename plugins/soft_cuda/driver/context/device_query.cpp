// Initialisation, versions, and what the device is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft::driver {
namespace {

bool IsDevice(CUdevice device) { return Device::Get().IsGpu(device); }
const Gpu& GpuAt(CUdevice device) { return *Device::Get().FindGpu(device); }

int Attribute(CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  DeviceAttribute(GpuAt(device), attribute, &value);
  return value;
}

CUresult CopyText(std::string_view text, char* to, int length) {
  if (to == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  const size_t bytes = std::min(text.size(), static_cast<size_t>(length) - 1);
  std::memcpy(to, text.data(), bytes);
  to[bytes] = '\0';
  return CUDA_SUCCESS;
}

}  // namespace

CUresult Init(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Device& device = Device::Get();
  const Lock lock = LockDevice();
  if (device.ready) return CUDA_SUCCESS;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && !device.ShowGpus(visible)) {
    Explain("CUDA_VISIBLE_DEVICES hides every device: unset it, or name one that is there");
    return CUDA_ERROR_NO_DEVICE;
  }
  device.ready = true;
  LoadInjection();
  return CUDA_SUCCESS;
}

CUresult DriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = DriverVersion();
  return CUDA_SUCCESS;
}

CUresult DeviceGet(CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult DeviceGetCount(int* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(Device::Get().gpus.size());
  return CUDA_SUCCESS;
}

CUresult DeviceGetName(char* name, int len, CUdevice dev) {
  return IsDevice(dev) ? CopyText(GpuAt(dev).figures.name, name, len) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *uuid = UuidOf(GpuAt(dev));
  return CUDA_SUCCESS;
}

CUresult DeviceGetUuid(CUuuid* uuid, CUdevice dev) { return DeviceGetUuid_v2(uuid, dev); }

CUresult DeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = GpuAt(dev).figures.bytes;
  return CUDA_SUCCESS;
}

CUresult DeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  return DeviceAttribute(GpuAt(dev), attrib, pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult DeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *major = Attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  *minor = Attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return CUDA_SUCCESS;
}

CUresult DeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  if (prop == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  for (int i = 0; i < 3; ++i) {
    prop->maxThreadsDim[i] =
        Attribute(dev, static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
    prop->maxGridSize[i] =
        Attribute(dev, static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i));
  }
  prop->maxThreadsPerBlock = Attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  prop->sharedMemPerBlock = Attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  prop->totalConstantMemory = Attribute(dev, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  prop->SIMDWidth = Attribute(dev, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  prop->memPitch = Attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  prop->regsPerBlock = Attribute(dev, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  prop->clockRate = Attribute(dev, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  prop->textureAlign = Attribute(dev, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult DeviceGetPCIBusId(char* id, int len, CUdevice dev) {
  return IsDevice(dev) ? CopyText(PciBusId(GpuAt(dev)), id, len) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetByPCIBusId(CUdevice* dev, const char* id) {
  if (dev == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const Gpu& gpu : Device::Get().gpus) {
    if (PciBusId(gpu) != id) continue;
    *dev = gpu.ordinal;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetExecAffinitySupport(int* pi, CUexecAffinityType type, CUdevice dev) {
  if (pi == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *pi = 0;  // only clients of MPS have it
  return CUDA_SUCCESS;
}

// The capabilities of atomics across the bus aren't known of any device: none is promised.
CUresult DeviceGetHostAtomicCapabilities(unsigned int* capabilities,
                                         const CUatomicOperation* operations, unsigned int count,
                                         CUdevice dev) {
  if (capabilities == nullptr || operations == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  std::fill_n(capabilities, count, 0u);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
