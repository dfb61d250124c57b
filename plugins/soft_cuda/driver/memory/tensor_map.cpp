// Tensor maps. What they contain is the driver's: here all that they were made of, of
// which nothing looks like an address. The rules are those in cuda.h.
#include <algorithm>
#include <cstring>
#include <span>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {
namespace {

constexpr uint64_t kTensorMapMark = 0x67726170686b6974;  // of a map made here
constexpr uint32_t kMostDimensions = 5;

struct TensorType {
  uint64_t bits;  // of an element
  bool packed = false;
};
constexpr TensorType kTensorTypes[] = {{8},  {16},      {32},      {32},     {64}, {64},
                                       {16}, {32},      {64},      {16},     {32}, {32},
                                       {32}, {4, true}, {4, true}, {6, true}};

// The parameters shared by all ways to make one.
struct Tensor {
  CUtensorMap* out;
  CUtensorMapDataType type;
  uint32_t rank;
  void* address;
  const cuuint64_t* sizes;
  const cuuint64_t* strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;

  bool In32() const {  // 32-byte units
    return interleave == CU_TENSOR_MAP_INTERLEAVE_32B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
  }
};

bool AreSettings(const Tensor& t) {
  if (static_cast<unsigned>(t.type) >= std::size(kTensorTypes)) return false;
  if (static_cast<unsigned>(t.interleave) > CU_TENSOR_MAP_INTERLEAVE_32B) return false;
  if (static_cast<unsigned>(t.swizzle) > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B) return false;
  if (static_cast<unsigned>(t.promotion) > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return false;
  if (static_cast<unsigned>(t.fill) > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
    return false;
  const bool floats =
      (t.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && t.type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
  if (t.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !floats) return false;
  return t.interleave != CU_TENSOR_MAP_INTERLEAVE_32B || t.swizzle == CU_TENSOR_MAP_SWIZZLE_32B;
}

bool IsTensor(const Tensor& t) {
  if (t.out == nullptr || reinterpret_cast<uintptr_t>(t.out) % 64 != 0) return false;
  if (!AreSettings(t)) return false;
  const uint32_t fewest = t.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 3;
  if (t.rank < fewest || t.rank > kMostDimensions) return false;
  if (t.sizes == nullptr || t.steps == nullptr || (t.rank > 1 && t.strides == nullptr))
    return false;
  const uint64_t unit = t.In32() ? 32 : 16;
  if (t.address == nullptr || reinterpret_cast<uintptr_t>(t.address) % unit != 0) return false;
  const auto is_size = [](cuuint64_t size) { return size != 0 && size <= uint64_t{1} << 32; };
  const auto is_stride = [&](cuuint64_t stride) {
    return stride % unit == 0 && stride < uint64_t{1} << 40;
  };
  const auto is_step = [](cuuint32_t step) { return step != 0 && step <= 8; };
  return std::ranges::all_of(std::span(t.sizes, t.rank), is_size) &&
         std::ranges::all_of(std::span(t.strides, t.rank - 1), is_stride) &&
         std::ranges::all_of(std::span(t.steps, t.rank), is_step);
}

// `box`: what one copy takes of it, as the way to make it says that.
CUresult Make(const Tensor& t, std::span<const cuuint32_t> box) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (CurrentContext()->gpu->figures.architecture < 90) return CUDA_ERROR_NOT_SUPPORTED;
  if (!IsTensor(t)) return CUDA_ERROR_INVALID_VALUE;
  CUtensorMap made = {};
  auto* word = made.opaque;
  *word++ = kTensorMapMark;
  *word++ = ~reinterpret_cast<uint64_t>(t.address);
  *word++ = static_cast<uint64_t>(t.type) | uint64_t{t.rank} << 8 |
            static_cast<uint64_t>(t.interleave) << 16 | static_cast<uint64_t>(t.swizzle) << 24 |
            static_cast<uint64_t>(t.promotion) << 32 | static_cast<uint64_t>(t.fill) << 40;
  for (uint32_t i = 0; i < t.rank; ++i) *word++ = ~t.sizes[i];
  for (uint32_t i = 0; i + 1 < t.rank; ++i) *word++ = ~t.strides[i];
  uint64_t rest = 0;
  for (uint32_t i = 0; i < t.rank; ++i) rest = rest * 31 + t.steps[i];
  for (const cuuint32_t value : box) rest = rest * 1000003 + value;
  *word = ~rest;
  *t.out = made;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult TensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                              void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                              const cuuint32_t* box, const cuuint32_t* steps,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Tensor tensor = {out,   type,       rank,    address,   sizes, strides,
                         steps, interleave, swizzle, promotion, fill};
  if (box == nullptr || rank == 0 || rank > kMostDimensions) return CUDA_ERROR_INVALID_VALUE;
  const std::span sides(box, rank);
  if (std::ranges::any_of(sides, [](cuuint32_t side) { return side == 0 || side > 256; }))
    return CUDA_ERROR_INVALID_VALUE;
  if (!AreSettings(tensor)) return CUDA_ERROR_INVALID_VALUE;
  const auto [bits, packed] = kTensorTypes[type];
  const uint64_t row = box[0] * bits / 8;  // bytes of the box's inner side
  if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && !packed) {
    const uint64_t widest = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE  ? row
                            : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32
                            : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64
                                                                   : 128;
    if (row % 16 != 0 || row > widest) return CUDA_ERROR_INVALID_VALUE;
  }
  return Make(tensor, sides);
}

CUresult TensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                               void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                               const int* lower, const int* upper, cuuint32_t channels,
                               cuuint32_t pixels, const cuuint32_t* steps,
                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                               CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  if (rank < 3 || lower == nullptr || upper == nullptr || channels == 0 || channels > 256 ||
      pixels == 0 || pixels > 1024) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const cuuint32_t box[] = {channels, pixels, static_cast<cuuint32_t>(*lower),
                            static_cast<cuuint32_t>(*upper)};
  return Make(
      {out, type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill}, box);
}

CUresult TensorMapEncodeIm2colWide(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                   void* address, const cuuint64_t* sizes,
                                   const cuuint64_t* strides, int lower, int upper,
                                   cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                   CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                   CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                   CUtensorMapFloatOOBfill fill) {
  if (rank < 3 || channels == 0 || channels > 256 || pixels == 0 || pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  const cuuint32_t box[] = {channels, pixels, static_cast<cuuint32_t>(lower),
                            static_cast<cuuint32_t>(upper), static_cast<cuuint32_t>(mode)};
  return Make(
      {out, type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill}, box);
}

CUresult TensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (map == nullptr || map->opaque[0] != kTensorMapMark || address == nullptr ||
      reinterpret_cast<uintptr_t>(address) % 16 != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  map->opaque[1] = ~reinterpret_cast<uint64_t>(address);
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
