// A function that the software device doesn't model says so once, and returns 'not supported'.
// Software device only.
#include "conformance.h"

int main() {
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphicsUnregisterResource(nullptr));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGraphicsUnregisterResource(nullptr));
  EXPECT_ERROR(cudaErrorNotSupported, cudaGetLastError());
  return conformance::Finish("not_modelled");
}
