// Where a kernel's arguments hold addresses of memory that it may write.
//
//   T*                        written; const T*: read
//   a struct by value         every word may be an address. PyTorch's are known: the first address
//                             is the output, of a ReduceOp it is the input
//   types unknown             PTX, extern "C": an address whose use isn't known
//   a stand-in's operand      says its use itself
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {

// The types of a C++ function's parameters, by its mangled name; empty: it isn't one.
std::vector<std::string> ParameterTypes(std::string_view mangled);

std::vector<WriteSlot> WriteSlots(const KernelInfo& kernel, bool is_stand_in);

}  // namespace graphkit::soft
