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

#include "libgraphkit/model/trace.h"

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
};
CallSite CallSiteOf(const Trace& trace, StackId stack);

// A folder of packages, or of Python's own library: where it ends in a path; 0: it has none.
size_t EndOfPackages(std::string_view file);
size_t EndOfStandardLibrary(std::string_view file);

// "train.py:17", "torch/nn/modules/linear.py:134".
std::string PlaceOfFrame(const Trace& trace, uint32_t frame);

// True if two stacks come from one place of the program's own code: the same stack, or the same
// file, function and line of it.
bool SameSite(const Trace& trace, StackId a, StackId b);

}  // namespace graphkit
