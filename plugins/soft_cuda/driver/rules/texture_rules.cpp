#include "plugins/soft_cuda/driver/rules/texture_rules.h"

#include <algorithm>
#include <iterator>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/model/array_format.h"

namespace graphkit::soft::driver {
namespace {

size_t Most(CUdevice_attribute attribute) {
  int value = 0;
  DeviceAttribute(*CurrentContext()->gpu, attribute, &value);
  return static_cast<size_t>(value);
}

// Of plain formats; 0: there is none such.
size_t PlainBytes(CUarray_format format, unsigned channels) {
  const ArrayFormat* found = FindArrayFormat(format);
  const bool plain = found != nullptr && found->channels == 0 && HasChannels(*found, channels);
  return plain ? ElementBytes(*found, channels) : 0;
}

// Does an allocation of device memory hold the bytes, and are they aligned for textures?
bool HoldsTexels(CUdeviceptr from, size_t bytes) {
  if (from == 0 || from % Most(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) != 0 || bytes == 0)
    return false;
  Device& device = Device::Get();
  if (device.virtual_memory.IsReserved(from))
    return device.virtual_memory.IsAccessible(from, bytes);
  const auto block = device.FindAllocation(from);
  return block != device.allocations.end() && bytes <= block->second.size - (from - block->first);
}

bool IsReadableLinear(const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  const size_t element = PlainBytes(linear.format, linear.numChannels);
  return element != 0 &&
         linear.sizeInBytes / element <= Most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH) &&
         HoldsTexels(linear.devPtr, linear.sizeInBytes);
}

bool IsReadablePitched(const CUDA_RESOURCE_DESC& resource) {
  const auto& rows = resource.res.pitch2D;
  const size_t element = PlainBytes(rows.format, rows.numChannels);
  if (element == 0 || rows.width == 0 || rows.height == 0) return false;
  if (rows.width > Most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
      rows.height > Most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
      rows.pitchInBytes > Most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
    return false;
  const size_t width = rows.width * element;
  return rows.pitchInBytes % Most(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0 &&
         rows.pitchInBytes >= width &&
         HoldsTexels(rows.devPtr, (rows.height - 1) * rows.pitchInBytes + width);
}

// The shape of an array or a mipmapped array, and how many levels that has; null: neither.
const CUDA_ARRAY3D_DESCRIPTOR* ShapeOf(const CUDA_RESOURCE_DESC& resource, size_t* levels) {
  *levels = 1;
  if (resource.resType == CU_RESOURCE_TYPE_ARRAY) {
    const auto* array = Resolve<Array>(resource.res.array.hArray);
    return array != nullptr ? &array->shape : nullptr;
  }
  if (resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) return nullptr;
  const auto* array = Resolve<MipmappedArray>(resource.res.mipmap.hMipmappedArray);
  if (array == nullptr) return nullptr;
  *levels = array->levels.size();
  return &array->shape;
}

bool IsBlocks(CUresourceViewFormat format) {
  return format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7;
}

// Blocks of 4 x 4 elements lie in arrays of 32-bit numbers: 8 bytes of a block in 2 channels, 16 in
// 4.
bool HoldsBlocks(const CUDA_ARRAY3D_DESCRIPTOR& shape, CUresourceViewFormat format) {
  const bool small = format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1 ||
                     format == CU_RES_VIEW_FORMAT_UNSIGNED_BC4 ||
                     format == CU_RES_VIEW_FORMAT_SIGNED_BC4;
  return shape.Format == CU_AD_FORMAT_UNSIGNED_INT32 && shape.NumChannels == (small ? 2u : 4u);
}

bool IsLayered(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  return (shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
}

bool IsAddressMode(CUaddress_mode mode) {
  return mode >= CU_TR_ADDRESS_MODE_WRAP && mode <= CU_TR_ADDRESS_MODE_BORDER;
}
bool IsFilter(CUfilter_mode mode) {
  return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
}

}  // namespace

bool IsReadable(const CUDA_RESOURCE_DESC& resource) {
  size_t levels = 0;
  if (resource.flags != 0) return false;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return ShapeOf(resource, &levels) != nullptr;
    case CU_RESOURCE_TYPE_LINEAR:
      return IsReadableLinear(resource);
    case CU_RESOURCE_TYPE_PITCH2D:
      return IsReadablePitched(resource);
    default:
      return false;
  }
}

bool CanSample(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling) {
  constexpr unsigned kFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                              CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                              CU_TRSF_SEAMLESS_CUBEMAP;
  if ((sampling.flags & ~kFlags) != 0) return false;
  const bool normalized = (sampling.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && !normalized) return false;
  if ((sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0) {
    size_t levels = 0;
    const CUDA_ARRAY3D_DESCRIPTOR* shape = ShapeOf(resource, &levels);
    if (shape == nullptr || (shape->Flags & CUDA_ARRAY3D_CUBEMAP) == 0) return false;
  }
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR) return true;  // nothing else is looked at
  return std::all_of(std::begin(sampling.addressMode), std::end(sampling.addressMode),
                     IsAddressMode) &&
         IsFilter(sampling.filterMode) && IsFilter(sampling.mipmapFilterMode);
}

bool CanView(const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC& view) {
  size_t levels = 0;
  const CUDA_ARRAY3D_DESCRIPTOR* shape = ShapeOf(resource, &levels);
  if (shape == nullptr || FindArrayFormat(shape->Format) == nullptr ||
      FindArrayFormat(shape->Format)->block_bytes != 0)
    return false;
  if (view.format < CU_RES_VIEW_FORMAT_NONE || view.format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7)
    return false;
  const size_t scale = IsBlocks(view.format) ? 4 : 1;
  if (IsBlocks(view.format) && !HoldsBlocks(*shape, view.format)) return false;
  const size_t layers = IsLayered(*shape) ? shape->Depth : 1;
  return view.width == scale * shape->Width && view.height == scale * shape->Height &&
         view.depth == shape->Depth && view.firstMipmapLevel <= view.lastMipmapLevel &&
         view.lastMipmapLevel < levels && view.firstLayer <= view.lastLayer &&
         view.lastLayer < layers;
}

}  // namespace graphkit::soft::driver
