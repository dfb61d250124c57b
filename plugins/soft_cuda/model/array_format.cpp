#include "plugins/soft_cuda/model/array_format.h"

#include <algorithm>
#include <iterator>

namespace graphkit::soft {
namespace {

// As cuda.h's CUarray_format describes them.
constexpr ArrayFormat kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 0},
    {CU_AD_FORMAT_UNSIGNED_INT16, 2, 0, 0},
    {CU_AD_FORMAT_UNSIGNED_INT32, 4, 0, 0},
    {CU_AD_FORMAT_SIGNED_INT8, 1, 0, 0},
    {CU_AD_FORMAT_SIGNED_INT16, 2, 0, 0},
    {CU_AD_FORMAT_SIGNED_INT32, 4, 0, 0},
    {CU_AD_FORMAT_HALF, 2, 0, 0},
    {CU_AD_FORMAT_FLOAT, 4, 0, 0},
    {CU_AD_FORMAT_NV12, 0, 3, 0},
    {CU_AD_FORMAT_UNORM_INT8X1, 1, 1, 0},
    {CU_AD_FORMAT_UNORM_INT8X2, 1, 2, 0},
    {CU_AD_FORMAT_UNORM_INT8X4, 1, 4, 0},
    {CU_AD_FORMAT_UNORM_INT16X1, 2, 1, 0},
    {CU_AD_FORMAT_UNORM_INT16X2, 2, 2, 0},
    {CU_AD_FORMAT_UNORM_INT16X4, 2, 4, 0},
    {CU_AD_FORMAT_SNORM_INT8X1, 1, 1, 0},
    {CU_AD_FORMAT_SNORM_INT8X2, 1, 2, 0},
    {CU_AD_FORMAT_SNORM_INT8X4, 1, 4, 0},
    {CU_AD_FORMAT_SNORM_INT16X1, 2, 1, 0},
    {CU_AD_FORMAT_SNORM_INT16X2, 2, 2, 0},
    {CU_AD_FORMAT_SNORM_INT16X4, 2, 4, 0},
    {CU_AD_FORMAT_BC1_UNORM, 0, 4, 8},
    {CU_AD_FORMAT_BC1_UNORM_SRGB, 0, 4, 8},
    {CU_AD_FORMAT_BC2_UNORM, 0, 4, 16},
    {CU_AD_FORMAT_BC2_UNORM_SRGB, 0, 4, 16},
    {CU_AD_FORMAT_BC3_UNORM, 0, 4, 16},
    {CU_AD_FORMAT_BC3_UNORM_SRGB, 0, 4, 16},
    {CU_AD_FORMAT_BC4_UNORM, 0, 1, 8},
    {CU_AD_FORMAT_BC4_SNORM, 0, 1, 8},
    {CU_AD_FORMAT_BC5_UNORM, 0, 2, 16},
    {CU_AD_FORMAT_BC5_SNORM, 0, 2, 16},
    {CU_AD_FORMAT_BC6H_UF16, 0, 3, 16},
    {CU_AD_FORMAT_BC6H_SF16, 0, 3, 16},
    {CU_AD_FORMAT_BC7_UNORM, 0, 4, 16},
    {CU_AD_FORMAT_BC7_UNORM_SRGB, 0, 4, 16},
    {CU_AD_FORMAT_UNORM_INT_101010_2, 1, 4, 0},
};

}  // namespace

const ArrayFormat* FindArrayFormat(CUarray_format format) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [format](const ArrayFormat& f) { return f.format == format; });
  return found != std::end(kFormats) ? found : nullptr;
}

bool HasChannels(const ArrayFormat& format, unsigned channels) {
  if (format.channels != 0) return channels == format.channels;
  return channels == 1 || channels == 2 || channels == 4;
}

size_t ElementBytes(const ArrayFormat& format, unsigned channels) {
  return format.block_bytes != 0 ? format.block_bytes : size_t{format.channel_bytes} * channels;
}

}  // namespace graphkit::soft
