#include "plugins/soft_cuda/libraries/blas/handle.h"

#include <cstring>

namespace graphkit::soft::blas {

uint64_t ElementBits(int type) {
  switch (type) {
    case 16:  // CUDA_R_4I
    case 18:  // CUDA_R_4U
    case 33:  // CUDA_R_4F_E2M1
      return 4;
    case 31:  // CUDA_R_6F_E2M3
    case 32:  // CUDA_R_6F_E3M2
      return 6;
    case 3:   // CUDA_R_8I
    case 8:   // CUDA_R_8U
    case 17:  // CUDA_C_4I
    case 19:  // CUDA_C_4U
    case 28:  // CUDA_R_8F_E4M3
    case 29:  // CUDA_R_8F_E5M2
    case 30:  // CUDA_R_8F_UE8M0
      return 8;
    case 2:   // CUDA_R_16F
    case 7:   // CUDA_C_8I
    case 9:   // CUDA_C_8U
    case 14:  // CUDA_R_16BF
    case 20:  // CUDA_R_16I
    case 22:  // CUDA_R_16U
      return 16;
    case 0:   // CUDA_R_32F
    case 6:   // CUDA_C_16F
    case 10:  // CUDA_R_32I
    case 12:  // CUDA_R_32U
    case 15:  // CUDA_C_16BF
    case 21:  // CUDA_C_16I
    case 23:  // CUDA_C_16U
      return 32;
    case 1:   // CUDA_R_64F
    case 4:   // CUDA_C_32F
    case 11:  // CUDA_C_32I
    case 13:  // CUDA_C_32U
    case 24:  // CUDA_R_64I
    case 26:  // CUDA_R_64U
      return 64;
    case 5:   // CUDA_C_64F
    case 25:  // CUDA_C_64I
    case 27:  // CUDA_C_64U
      return 128;
    default:
      return 0;
  }
}

bool IsZero(const Handle& handle, const void* scalar, uint64_t bytes) {
  if (handle.device_scalars() || scalar == nullptr) return false;
  const auto* at = static_cast<const unsigned char*>(scalar);
  for (uint64_t i = 0; i < bytes; ++i) {
    if (at[i] != 0) return false;
  }
  return true;
}

Call& Call::Result(void* result, uint64_t bytes) {
  if (handle_.device_scalars()) {
    Writes(result, bytes);
  } else if (result != nullptr) {
    std::memset(result, 0, bytes);
  }
  return *this;
}

}  // namespace graphkit::soft::blas
