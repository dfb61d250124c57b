#include "libgraphkit/analysis/names/library_pool.h"

#include <array>

#include "libgraphkit/analysis/names/call_site.h"

namespace graphkit {

std::string_view LibraryPool(const Ran& trace, StackId stack) {
  struct Library {
    std::string_view name, pool;  // a package of Python or a shared library begins with the name
  };
  constexpr std::array<Library, 7> kLibraries = {{
      {"cupy", "CuPy's memory pool"},
      {"rmm", "RMM's memory pool"},
      {"numba", "Numba's memory"},
      {"warp", "Warp's memory pool"},
      {"jax", "JAX's memory pool"},
      {"paddle", "Paddle's memory pool"},
      {"onnxruntime", "ONNX Runtime's arena"},
  }};
  for (const StackFrame& frame : StackFrames(trace, stack)) {
    const std::string_view file = trace[frame.file], base = file.substr(file.find_last_of('/') + 1);
    const size_t package = EndOfPackages(file);
    const std::string_view function = trace[frame.function];
    std::string_view name = file.substr(package);
    if (package == 0) name = base.starts_with("lib") ? base.substr(3) : std::string_view();
    for (const Library& library : kLibraries) {
      const bool cython =
          function.find("__pyx_") != function.npos && function.find(library.name) != function.npos;
      if (cython || name.starts_with(library.name)) return library.pool;
    }
    if (!IsLibraryFrame(function, file)) break;
  }
  return {};
}

bool IsPythonProgram(const Ran& trace) {
  const auto is_python = [](std::string_view path) {
    return path.substr(path.find_last_of('/') + 1).starts_with("python");
  };
  return is_python(trace.process.program) || is_python(trace.process.executable);
}

}  // namespace graphkit
