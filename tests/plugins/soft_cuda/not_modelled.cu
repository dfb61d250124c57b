// Functions that the software device does not model report it, once, and return "not supported".
// Software device only.
#include <cuda.h>

#include "conformance.h"

int main() {
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphicsUnregisterResource(nullptr));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphicsUnregisterResource(nullptr));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGetLastError());
  return conformance::Finish("not_modelled");
}
