// Memory of a PyTorch program by the stack that asked for it: the line of the model,
// the operator, and what the memory is for.
//
//     torch::unwind::unwind                      native frames of PyTorch and CPython
//     at::_ops::silu::call                       the operator: silu
//     module.py:1750 _call_impl                  torch
//     modeling_llama.py:216 forward              the line: the innermost Python frame that isn't of
//     train.py:21 <module>                       torch, accelerate, CPython or another plumbing
//
// The line may lie in an installed package: of a model that comes in one, the program's own frame
// is the same for every block. Whose code a frame is: call_site.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class MemoryRole : uint8_t {
  kOther,
  kWeights,    // weights and buffers of modules
  kOptimizer,  // optimizer state
  kBackward,   // made by autograd: gradients, and what a backward needs
  kForward,    // made by a module's forward
};

struct StackName {
  std::optional<uint32_t> frame = {};  // the line, in Trace::stack_frames; Python's where there is
  std::string operation = {};          // "silu", "log_softmax backward"; empty: not told
  MemoryRole role = MemoryRole::kOther;
  bool operator==(const StackName&) const = default;
};

StackName NameOfStack(const Trace& trace, StackId stack);

// Of those with a word: "optimizer state", "weights and buffers", "gradients and what a backward
// made"; the others "".
std::string_view RoleText(MemoryRole role);

// True if PyTorch recorded the stack with its native frames.
bool HasTorchFrames(const Trace& trace, StackId stack);

// A frame of Python code: a file of Python source, or a cell of a notebook.
bool IsPythonFile(std::string_view file);

// "llama/modeling_llama.py:216": the file with the folder that it lies in.
std::string ShortPlaceOfFrame(const Trace& trace, uint32_t frame);

// "llama/modeling_llama.py:216 silu"; "log_softmax backward" without a line; "" when neither is
// told.
std::string MemoryTitle(const Trace& trace, StackId stack);

}  // namespace graphkit
