// Initialisation, versions, and what the device is.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft::driver {
namespace {

bool IsDevice(CUdevice device) { return device == 0; }

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
  if (device.ready.exchange(true)) return CUDA_SUCCESS;
  LoadInjection();
  return CUDA_SUCCESS;
}

CUresult DriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
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
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult DeviceGetName(char* name, int len, CUdevice dev) {
  return IsDevice(dev) ? CopyText(kDeviceName, name, len) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  std::memcpy(uuid->bytes, "graphkit-soft-00", sizeof uuid->bytes);
  return CUDA_SUCCESS;
}

CUresult DeviceGetUuid(CUuuid* uuid, CUdevice dev) { return DeviceGetUuid_v2(uuid, dev); }

CUresult DeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = kTotalBytes;
  return CUDA_SUCCESS;
}

CUresult DeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  return DeviceAttribute(attrib, pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult DeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *major = kArchitecture / 10;
  *minor = kArchitecture % 10;
  return CUDA_SUCCESS;
}

CUresult DeviceGetPCIBusId(char* id, int len, CUdevice dev) {
  return IsDevice(dev) ? CopyText(kPciBusId, id, len) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult DeviceGetByPCIBusId(CUdevice* dev, const char* id) {
  if (dev == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (std::string_view(id) != kPciBusId) return CUDA_ERROR_INVALID_DEVICE;
  *dev = 0;
  return CUDA_SUCCESS;
}

CUresult DeviceCanAccessPeer(int* can, CUdevice dev, CUdevice peer) {
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsDevice(dev) || !IsDevice(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = 0;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
