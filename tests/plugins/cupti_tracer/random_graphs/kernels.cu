// The kernels of the random programs. They do nothing: what they would touch is said by their
// parameters.
#include <cstddef>

#include "view.h"

__global__ void Idle() {}
__global__ void Write(unsigned*) {}
__global__ void Read(const unsigned*, unsigned*) {}
__global__ void Packed(random_graphs::Pack, unsigned long long) {}

namespace random_graphs {

const Kernel kKernels[4] = {
    {reinterpret_cast<const void*>(Idle), "_Z4Idlev", {}},
    {reinterpret_cast<const void*>(Write), "_Z5WritePj", {{0, 0, '?'}}},
    {reinterpret_cast<const void*>(Read), "_Z4ReadPKjPj", {{0, 0, 'r'}, {1, 0, '?'}}},
    {reinterpret_cast<const void*>(Packed),
     "_Z6PackedN13random_graphs4PackEy",
     {{0, offsetof(Pack, first), '?'}, {0, offsetof(Pack, second), '?'}}}};

}  // namespace random_graphs
