// Libraries that keep the memory that they get from the driver in pools of their own, by design.
#pragma once

#include <string_view>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// The pool of the library that asked for memory: "CuPy's memory pool", "ONNX Runtime's arena";
// empty: none that is known for one.
std::string_view LibraryPool(const Trace& trace, StackId stack);

// A Python interpreter ran the program, so that libraries made all of its calls of CUDA.
bool IsPythonProgram(const Trace& trace);

}  // namespace graphkit
