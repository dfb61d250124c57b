// Whose code a call stack's frames are, and where a person's own code stands in it.
//
//     linear.py:134 forward    …/site-packages/torch/nn/modules      a library's
//     train.py:17 forward      the program                           the call site
//     train.py:30 step
//
// A library's is what lies in folders that Python's packages and its own modules are installed to,
// and what they make (<frozen …>, <string>, the code of torch.compile); CUDA's own functions;
// graphkit's hook.
// Shared libraries elsewhere may be the program's own, and count as that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

bool IsCudaFrame(std::string_view function, std::string_view file);
bool IsLibraryFrame(std::string_view function, std::string_view file);

// Of a library's file, its name without the folder that it is installed in:
// "torch/nn/modules/linear.py", "libcublas.so.13"; any other file as it is.
std::string_view ShownFile(std::string_view file);

// Frames of a stack, as indices in Trace::stack_frames.
struct CallSite {
  std::optional<uint32_t> own;    // the innermost of the program's own code
  std::optional<uint32_t> inner;  // the innermost that isn't CUDA's, where that is another
  std::optional<uint32_t> outermost() const { return own ? own : inner; }
};
CallSite CallSiteOf(const Ran& trace, StackId stack);

// A folder of packages: where it ends in a path; 0: it has none.
size_t EndOfPackages(std::string_view file);

// "modules/linear.py:134": the file with the folder that it lies in; the form of all texts.
std::string ShortPlace(std::string_view file, uint32_t line);
std::string PlaceOfFrame(const Ran& trace, uint32_t frame);

// The program's own line: "train.py:17"; empty: it isn't known.
std::string OwnPlace(const Ran& trace, StackId stack);

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

StackName NameOfStack(const Ran& trace, StackId stack);

// Of those with a word: "optimizer state", "weights and buffers", "gradients and what a backward
// made"; the others "".
std::string_view RoleText(MemoryRole role);

// Memory that a library keeps or uses for itself: "cuBLAS workspace", "Triton's benchmark buffer";
// empty: it isn't. Workspaces show in native frames only.
std::string_view LibraryMemory(const Ran& trace, StackId stack);

// True if PyTorch recorded the stack with its native frames.
bool HasTorchFrames(const Ran& trace, StackId stack);

// A frame of Python code: a file of Python source, or a cell of a notebook.
bool IsPythonFile(std::string_view file);

// "llama/modeling_llama.py:216 silu"; "log_softmax backward" without a line; "" when neither is
// told.
std::string MemoryTitle(const Ran& trace, StackId stack);

}  // namespace graphkit
