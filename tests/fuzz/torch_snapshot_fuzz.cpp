// A fuzzing entry point: any bytes give a snapshot or an error.
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. \
//     tests/fuzz/torch_snapshot_fuzz.cpp
//     libgraphkit/io/{pickle,torch_snapshot,torch_stacks,mapped_file}.cpp
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libgraphkit/io/torch_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)graphkit::ParseTorchSnapshot({reinterpret_cast<const char*>(data), size});
  return 0;
}
