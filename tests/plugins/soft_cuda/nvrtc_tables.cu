// NVRTC (seen with 13.2 and 13.5) asks for undocumented tables and goes on without them: whoever
// exports its functions is refused in silence. Software device only.
#include <cuda.h>

#include "conformance.h"

extern "C" int nvrtcVersion(int*, int*) { return 0; }

int main() {
  const void* table = nullptr;
  const CUuuid id = {};
  EXPECT_FAILS(cuGetExportTable(&table, &id));
  return conformance::Finish("nvrtc_tables");
}
