// Texture and surface objects.
#include "plugins/soft_cuda/model/texture.h"

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/rules/texture_rules.h"
#include "plugins/soft_cuda/model/array_format.h"

namespace graphkit::soft::driver {
namespace {

// Answers a query about an object.
template <typename T, typename Part>
CUresult Tell(const T* object, Part* out, Part T::*part) {
  if (out == nullptr || object == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = object->*part;
  return CUDA_SUCCESS;
}

bool IsWritable(const CUDA_RESOURCE_DESC& resource) {
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY || resource.flags != 0) return false;
  const auto* array = Resolve<Array>(resource.res.array.hArray);
  return array != nullptr && (array->shape.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
}

}  // namespace

CUresult TexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                         const CUDA_TEXTURE_DESC* sampling, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (out == nullptr || resource == nullptr || sampling == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!IsReadable(*resource) || !CanSample(*resource, *sampling)) return CUDA_ERROR_INVALID_VALUE;
  if (view != nullptr && !CanView(*resource, *view)) return CUDA_ERROR_INVALID_VALUE;
  Texture texture{CurrentContext(), *resource, *sampling, std::nullopt};
  if (view != nullptr) texture.view = *view;
  *out = Device::Get().textures.Add(std::move(texture));
  return CUDA_SUCCESS;
}

CUresult TexObjectDestroy(CUtexObject texture) {
  const Lock lock = LockDevice();
  return Device::Get().textures.objects.erase(texture) != 0 ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}

CUresult TexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject texture) {
  const Lock lock = LockDevice();
  return Tell(Device::Get().textures.Find(texture), out, &Texture::resource);
}

CUresult TexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject texture) {
  const Lock lock = LockDevice();
  return Tell(Device::Get().textures.Find(texture), out, &Texture::sampling);
}

CUresult TexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject handle) {
  const Lock lock = LockDevice();
  const Texture* texture = Device::Get().textures.Find(handle);
  if (out == nullptr || texture == nullptr || !texture->view) return CUDA_ERROR_INVALID_VALUE;
  *out = *texture->view;
  return CUDA_SUCCESS;
}

CUresult SurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  if (out == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!IsWritable(*resource)) return CUDA_ERROR_INVALID_VALUE;
  *out = Device::Get().surfaces.Add({CurrentContext(), *resource});
  return CUDA_SUCCESS;
}

CUresult SurfObjectDestroy(CUsurfObject surface) {
  const Lock lock = LockDevice();
  return Device::Get().surfaces.objects.erase(surface) != 0 ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}

CUresult SurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject surface) {
  const Lock lock = LockDevice();
  return Tell(Device::Get().surfaces.Find(surface), out, &Surface::resource);
}

// One limit for all formats.
CUresult DeviceGetTexture1DLinearMaxWidth(size_t* out, CUarray_format format, unsigned channels,
                                          CUdevice device) {
  const Gpu* gpu = Device::Get().FindGpu(device);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  const ArrayFormat* found = FindArrayFormat(format);
  if (out == nullptr || found == nullptr || !HasChannels(*found, channels))
    return CUDA_ERROR_INVALID_VALUE;
  int width = 0;
  DeviceAttribute(*gpu, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &width);
  *out = static_cast<size_t>(width);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
