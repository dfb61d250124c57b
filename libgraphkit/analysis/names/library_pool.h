// Libraries that keep the memory that they get from the driver in pools of their own, by design.
#pragma once

#include <string_view>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

// The pool of the library that asked for memory: "CuPy's memory pool", "ONNX Runtime's arena";
// empty: none that is known for one.
std::string_view LibraryPool(const Ran& trace, StackId stack);

// A Python interpreter ran the program, so that libraries made all of its calls of CUDA.
bool IsPythonProgram(const Ran& trace);

}  // namespace graphkit
