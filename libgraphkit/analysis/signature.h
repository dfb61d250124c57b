// What a kernel's mangled name says of its parameters.
#pragma once

#include <string_view>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Whether a kernel may be given pointers: false only for a C++ name whose parameters are all
// numbers. An address that stands in the arguments of such a kernel is a coincidence.
bool MayTakePointers(std::string_view mangled);

// By kernel: whether it takes numbers only.
std::vector<bool> TakesNumbersOnly(const Trace& trace);
// Whether a node's kernel does, in all ways in which it is run; `kernels`: of each, as above.
bool TakesNumbersOnly(const Trace& trace, NodeId node, const std::vector<bool>& kernels);

}  // namespace graphkit
