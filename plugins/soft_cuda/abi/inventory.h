// The functions that the software device models; `graphkit doctor --soft` counts them.
#pragma once

#include <cstddef>

extern "C" {

struct graphkit_soft_function {
  const char* name;
  const char* family;  // "-": not modelled
  const char* test;    // that checks its effect, where one of its errors is checked, too; "-": none
  bool seen;           // a conformance program checked an effect of it on a GPU
};

// library: 0 libcuda.so.1, 1 libcudart.so.13, 2 libcupti.so.13. Returns the number of functions;
// null rows for another.
size_t graphkit_soft_inventory(int library, const graphkit_soft_function** rows);

}  // extern "C"
