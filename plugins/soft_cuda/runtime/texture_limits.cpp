#include "plugins/soft_cuda/runtime/texture_limits.h"

#include <cuda.h>

#include <initializer_list>

namespace graphkit::soft::runtime {

void FillTextureLimits(cudaDeviceProp* prop, int device) {
  const auto fill = [device](int* to, std::initializer_list<CUdevice_attribute> sides) {
    for (const CUdevice_attribute side : sides) cuDeviceGetAttribute(to++, side, device);
  };
  fill(&prop->maxTexture1D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH});
  fill(&prop->maxTexture1DMipmap, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH});
  fill(prop->maxTexture2D,
       {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT});
  fill(prop->maxTexture2DMipmap, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
                                  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT});
  fill(prop->maxTexture2DLinear, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
                                  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
                                  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH});
  fill(prop->maxTexture2DGather, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
                                  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT});
  fill(prop->maxTexture3D,
       {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH});
  fill(prop->maxTexture3DAlt, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
                               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE});
  fill(&prop->maxTextureCubemap, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH});
  fill(prop->maxTexture1DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
                                   CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS});
  fill(prop->maxTexture2DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
                                   CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
                                   CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS});
  fill(prop->maxTextureCubemapLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                                        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS});
  fill(&prop->maxSurface1D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH});
  fill(prop->maxSurface2D,
       {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT});
  fill(prop->maxSurface3D,
       {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH});
  fill(prop->maxSurface1DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH,
                                   CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS});
  fill(prop->maxSurface2DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
                                   CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
                                   CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS});
  fill(&prop->maxSurfaceCubemap, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH});
  fill(prop->maxSurfaceCubemapLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                                        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS});
}

}  // namespace graphkit::soft::runtime
