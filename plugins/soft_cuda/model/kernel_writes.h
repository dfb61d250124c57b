// Where a kernel's arguments hold addresses of memory that it may write.
//
//   T*                        written; const T*: read
//   a struct by value         every word may be an address, or stale bytes of the program's stack:
//                             padding and unused elements. PyTorch's are read by their layout:
//     std::array<char*, N>      the output is the first
//     ReduceOp                  its addresses are at its end: the source, two results, two buffers,
//                               semaphores; then an index, two flags and the number of results
//     a lambda                  the output is the first after an OffsetCalculator of 1 to 8
//                               operands, whose tables are in part unused; without one, the first
//                               that may begin a block of PyTorch's allocator
//   types unknown             PTX, extern "C": an address whose use isn't known
//   a stand-in's operand      says its use itself
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/soft_cuda/model/module.h"

namespace graphkit::soft {

// The types of a C++ function's parameters, by its mangled name; empty: it isn't one.
std::vector<std::string> ParameterTypes(std::string_view mangled);

std::vector<WriteSlot> WriteSlots(const KernelInfo& kernel, bool is_stand_in);

using MemoryTest = std::function<bool(uint64_t)>;  // of an address

struct WrittenWord {
  uint64_t address;
  bool sure = true;  // that the kernel writes there
  bool operator==(const WrittenWord&) const = default;
};

// The addresses among a parameter's words whose memory the kernel may write. No operands.
std::vector<WrittenWord> WrittenWords(WriteSlot::Use use, std::span<const uint64_t> words,
                                      const MemoryTest& is_memory);

}  // namespace graphkit::soft
