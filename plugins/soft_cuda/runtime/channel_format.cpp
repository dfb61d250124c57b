#include "plugins/soft_cuda/runtime/params.h"

#include <algorithm>
#include <iterator>

#include "plugins/soft_cuda/model/array_format.h"

namespace graphkit::soft::runtime {
namespace {

// Plain formats, by kind and bits.
struct Plain {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};
constexpr Plain kPlain[] = {
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

// Formats with a kind of their own, as channel_descriptor.h describes them.
constexpr cudaChannelFormatKind Kind(int kind) { return static_cast<cudaChannelFormatKind>(kind); }
constexpr int kFirst = cudaChannelFormatKindNV12;
struct Special {
  CUarray_format format;
  cudaChannelFormatDesc desc;
};
constexpr Special kSpecial[] = {
    {CU_AD_FORMAT_NV12, {8, 8, 8, 0, cudaChannelFormatKindNV12}},
    {CU_AD_FORMAT_UNORM_INT8X1, {8, 0, 0, 0, Kind(kFirst + 1)}},
    {CU_AD_FORMAT_UNORM_INT8X2, {8, 8, 0, 0, Kind(kFirst + 2)}},
    {CU_AD_FORMAT_UNORM_INT8X4, {8, 8, 8, 8, Kind(kFirst + 3)}},
    {CU_AD_FORMAT_UNORM_INT16X1, {16, 0, 0, 0, Kind(kFirst + 4)}},
    {CU_AD_FORMAT_UNORM_INT16X2, {16, 16, 0, 0, Kind(kFirst + 5)}},
    {CU_AD_FORMAT_UNORM_INT16X4, {16, 16, 16, 16, Kind(kFirst + 6)}},
    {CU_AD_FORMAT_SNORM_INT8X1, {8, 0, 0, 0, Kind(kFirst + 7)}},
    {CU_AD_FORMAT_SNORM_INT8X2, {8, 8, 0, 0, Kind(kFirst + 8)}},
    {CU_AD_FORMAT_SNORM_INT8X4, {8, 8, 8, 8, Kind(kFirst + 9)}},
    {CU_AD_FORMAT_SNORM_INT16X1, {16, 0, 0, 0, Kind(kFirst + 10)}},
    {CU_AD_FORMAT_SNORM_INT16X2, {16, 16, 0, 0, Kind(kFirst + 11)}},
    {CU_AD_FORMAT_SNORM_INT16X4, {16, 16, 16, 16, Kind(kFirst + 12)}},
    {CU_AD_FORMAT_BC1_UNORM, {8, 8, 8, 8, Kind(kFirst + 13)}},
    {CU_AD_FORMAT_BC1_UNORM_SRGB, {8, 8, 8, 8, Kind(kFirst + 14)}},
    {CU_AD_FORMAT_BC2_UNORM, {8, 8, 8, 8, Kind(kFirst + 15)}},
    {CU_AD_FORMAT_BC2_UNORM_SRGB, {8, 8, 8, 8, Kind(kFirst + 16)}},
    {CU_AD_FORMAT_BC3_UNORM, {8, 8, 8, 8, Kind(kFirst + 17)}},
    {CU_AD_FORMAT_BC3_UNORM_SRGB, {8, 8, 8, 8, Kind(kFirst + 18)}},
    {CU_AD_FORMAT_BC4_UNORM, {8, 0, 0, 0, Kind(kFirst + 19)}},
    {CU_AD_FORMAT_BC4_SNORM, {8, 0, 0, 0, Kind(kFirst + 20)}},
    {CU_AD_FORMAT_BC5_UNORM, {8, 8, 0, 0, Kind(kFirst + 21)}},
    {CU_AD_FORMAT_BC5_SNORM, {8, 8, 0, 0, Kind(kFirst + 22)}},
    {CU_AD_FORMAT_BC6H_UF16, {16, 16, 16, 0, Kind(kFirst + 23)}},
    {CU_AD_FORMAT_BC6H_SF16, {16, 16, 16, 0, Kind(kFirst + 24)}},
    {CU_AD_FORMAT_BC7_UNORM, {8, 8, 8, 8, Kind(kFirst + 25)}},
    {CU_AD_FORMAT_BC7_UNORM_SRGB, {8, 8, 8, 8, Kind(kFirst + 26)}},
    {CU_AD_FORMAT_UNORM_INT_101010_2,
     {10, 10, 10, 2, cudaChannelFormatKindUnsignedNormalized1010102}},
};
static_assert(kFirst + 26 == cudaChannelFormatKindUnsignedBlockCompressed7SRGB);

bool IsSame(const cudaChannelFormatDesc& a, const cudaChannelFormatDesc& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && a.f == b.f;
}

unsigned Count(const cudaChannelFormatDesc& desc) {
  return (desc.x != 0 ? 1u : 0u) + (desc.y != 0 ? 1u : 0u) + (desc.z != 0 ? 1u : 0u) +
         (desc.w != 0 ? 1u : 0u);
}

// `channels` channels of `bits` bits, from x on.
cudaChannelFormatDesc Channels(unsigned channels, int bits, cudaChannelFormatKind kind) {
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

}  // namespace

cudaError_t ToDriver(const cudaChannelFormatDesc& desc, CUDA_ARRAY3D_DESCRIPTOR* shape) {
  shape->NumChannels = Count(desc);
  for (const Plain& row : kPlain) {
    if (row.kind != desc.f || row.bits != desc.x || shape->NumChannels == 3 ||
        !IsSame(desc, Channels(shape->NumChannels, row.bits, row.kind)))
      continue;
    shape->Format = row.format;
    return cudaSuccess;
  }
  const auto* found = std::find_if(std::begin(kSpecial), std::end(kSpecial),
                                   [&](const Special& row) { return IsSame(row.desc, desc); });
  if (found == std::end(kSpecial)) return cudaErrorInvalidChannelDescriptor;
  shape->Format = found->format;
  return cudaSuccess;
}

cudaChannelFormatDesc ChannelsOf(const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  for (const Plain& row : kPlain) {
    if (row.format == shape.Format) return Channels(shape.NumChannels, row.bits, row.kind);
  }
  for (const Special& row : kSpecial) {
    if (row.format == shape.Format) return row.desc;
  }
  return {0, 0, 0, 0, cudaChannelFormatKindNone};
}

size_t ElementBytesOf(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* shape) {
  CUDA_ARRAY3D_DESCRIPTOR found;
  if (cuArray3DGetDescriptor(&found, Driver(array)) != CUDA_SUCCESS) return 0;
  if (shape != nullptr) *shape = found;
  const ArrayFormat* format = FindArrayFormat(found.Format);
  return format != nullptr ? ElementBytes(*format, found.NumChannels) : 0;
}

}  // namespace graphkit::soft::runtime
