// The rules and the table of sizes in the documentation of cuArray3DCreate and
// cuMipmappedArrayCreate.
#include "plugins/soft_cuda/driver/rules/array_shape.h"

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/model/array_format.h"

namespace graphkit::soft::driver {
namespace {

constexpr unsigned kArrayFlags =
    CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
    CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT |
    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
constexpr auto kNone = static_cast<CUdevice_attribute>(0);

// The attributes that bound each side; kNone: the side is 0, or has no bound of its own.
struct Bounds {
  CUdevice_attribute width;
  CUdevice_attribute height;
  CUdevice_attribute depth;
};

#define ATTRIBUTE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name

enum Kind { k1D, k2D, k3D, k1DLayered, k2DLayered, kCubemap, kCubemapLayered };

constexpr Bounds kTexture[] = {
    {ATTRIBUTE(TEXTURE1D_WIDTH), kNone, kNone},
    {ATTRIBUTE(TEXTURE2D_WIDTH), ATTRIBUTE(TEXTURE2D_HEIGHT), kNone},
    {ATTRIBUTE(TEXTURE3D_WIDTH), ATTRIBUTE(TEXTURE3D_HEIGHT), ATTRIBUTE(TEXTURE3D_DEPTH)},
    {ATTRIBUTE(TEXTURE1D_LAYERED_WIDTH), kNone, ATTRIBUTE(TEXTURE1D_LAYERED_LAYERS)},
    {ATTRIBUTE(TEXTURE2D_LAYERED_WIDTH), ATTRIBUTE(TEXTURE2D_LAYERED_HEIGHT),
     ATTRIBUTE(TEXTURE2D_LAYERED_LAYERS)},
    {ATTRIBUTE(TEXTURECUBEMAP_WIDTH), ATTRIBUTE(TEXTURECUBEMAP_WIDTH), kNone},
    {ATTRIBUTE(TEXTURECUBEMAP_LAYERED_WIDTH), ATTRIBUTE(TEXTURECUBEMAP_LAYERED_WIDTH),
     ATTRIBUTE(TEXTURECUBEMAP_LAYERED_LAYERS)},
};
constexpr Bounds kSurface[] = {
    {ATTRIBUTE(SURFACE1D_WIDTH), kNone, kNone},
    {ATTRIBUTE(SURFACE2D_WIDTH), ATTRIBUTE(SURFACE2D_HEIGHT), kNone},
    {ATTRIBUTE(SURFACE3D_WIDTH), ATTRIBUTE(SURFACE3D_HEIGHT), ATTRIBUTE(SURFACE3D_DEPTH)},
    {ATTRIBUTE(SURFACE1D_LAYERED_WIDTH), kNone, ATTRIBUTE(SURFACE1D_LAYERED_LAYERS)},
    {ATTRIBUTE(SURFACE2D_LAYERED_WIDTH), ATTRIBUTE(SURFACE2D_LAYERED_HEIGHT),
     ATTRIBUTE(SURFACE2D_LAYERED_LAYERS)},
    {ATTRIBUTE(SURFACECUBEMAP_WIDTH), ATTRIBUTE(SURFACECUBEMAP_WIDTH), kNone},
    {ATTRIBUTE(SURFACECUBEMAP_LAYERED_WIDTH), ATTRIBUTE(SURFACECUBEMAP_LAYERED_WIDTH),
     ATTRIBUTE(SURFACECUBEMAP_LAYERED_LAYERS)},
};
constexpr Bounds kMipmapped1D{ATTRIBUTE(TEXTURE1D_MIPMAPPED_WIDTH), kNone, kNone};
constexpr Bounds kMipmapped2D{ATTRIBUTE(TEXTURE2D_MIPMAPPED_WIDTH),
                              ATTRIBUTE(TEXTURE2D_MIPMAPPED_HEIGHT), kNone};
constexpr Bounds kGather{ATTRIBUTE(TEXTURE2D_GATHER_WIDTH), ATTRIBUTE(TEXTURE2D_GATHER_HEIGHT),
                         kNone};
constexpr Bounds kAlternate3D{ATTRIBUTE(TEXTURE3D_WIDTH_ALTERNATE),
                              ATTRIBUTE(TEXTURE3D_HEIGHT_ALTERNATE),
                              ATTRIBUTE(TEXTURE3D_DEPTH_ALTERNATE)};

#undef ATTRIBUTE

// Of the current context's device.
bool IsWithin(size_t side, CUdevice_attribute attribute) {
  if (attribute == kNone) return true;
  const Context* context = CurrentContext();
  int most = 0;
  return context != nullptr && DeviceAttribute(*context->gpu, attribute, &most) &&
         side <= static_cast<size_t>(most);
}

bool IsWithin(const CUDA_ARRAY3D_DESCRIPTOR& shape, const Bounds& bounds) {
  return IsWithin(shape.Width, bounds.width) && IsWithin(shape.Height, bounds.height) &&
         IsWithin(shape.Depth, bounds.depth);
}

bool Has(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned flag) { return (shape.Flags & flag) != 0; }

bool FindKind(const CUDA_ARRAY3D_DESCRIPTOR& shape, Kind* kind) {
  const bool layered = Has(shape, CUDA_ARRAY3D_LAYERED);
  if (Has(shape, CUDA_ARRAY3D_CUBEMAP)) {
    *kind = layered ? kCubemapLayered : kCubemap;
    const bool faces = layered ? shape.Depth > 0 && shape.Depth % 6 == 0 : shape.Depth == 6;
    return faces && shape.Width == shape.Height;
  }
  if (layered) {
    *kind = shape.Height == 0 ? k1DLayered : k2DLayered;
    return shape.Depth > 0;
  }
  *kind = shape.Depth > 0 ? k3D : shape.Height > 0 ? k2D : k1D;
  return shape.Depth == 0 || shape.Height > 0;
}

bool IsWithinTexture(const CUDA_ARRAY3D_DESCRIPTOR& shape, Kind kind, bool mipmapped) {
  if (mipmapped && kind == k1D) return IsWithin(shape, kMipmapped1D);
  if (mipmapped && kind == k2D) return IsWithin(shape, kMipmapped2D);
  if (kind == k3D && IsWithin(shape, kAlternate3D)) return true;
  return IsWithin(shape, kTexture[kind]);
}

}  // namespace

CUresult CheckArrayShape(const CUDA_ARRAY3D_DESCRIPTOR& shape, bool mipmapped) {
  const ArrayFormat* format = FindArrayFormat(shape.Format);
  if (format == nullptr || !HasChannels(*format, shape.NumChannels))
    return CUDA_ERROR_INVALID_VALUE;
  Kind kind = k1D;
  if (shape.Width == 0 || (shape.Flags & ~kArrayFlags) != 0 || !FindKind(shape, &kind))
    return CUDA_ERROR_INVALID_VALUE;
  if (shape.Format == CU_AD_FORMAT_NV12 &&
      (mipmapped || kind != k2D || shape.Width % 2 != 0 || shape.Height % 2 != 0))
    return CUDA_ERROR_INVALID_VALUE;
  bool fits = IsWithinTexture(shape, kind, mipmapped);
  if (Has(shape, CUDA_ARRAY3D_SURFACE_LDST)) fits = fits && IsWithin(shape, kSurface[kind]);
  if (Has(shape, CUDA_ARRAY3D_TEXTURE_GATHER))
    fits = fits && kind == k2D && IsWithin(shape, kGather);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace graphkit::soft::driver
