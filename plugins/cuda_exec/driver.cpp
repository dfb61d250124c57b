#include "plugins/cuda_exec/driver.h"

#include <dlfcn.h>

namespace graphkit::exec {

// The library stays: drivers start threads.
bool Driver::Open(const char* path, std::string* error) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    *error = std::string("there is no CUDA driver here: ") + path + " can't be loaded";
    return false;
  }
  library = std::shared_ptr<void>(handle, [](void* opened) { dlclose(opened); });
  // Twice, so that cuda.h's macros put in the version.
#define GRAPHKIT_TEXT_OF(name) #name
#define GRAPHKIT_TEXT(name) GRAPHKIT_TEXT_OF(name)
  const auto load = [&](auto* function, const char* symbol) {
    *reinterpret_cast<void**>(function) = dlsym(handle, symbol);
    if (*function == nullptr) *error = std::string("the driver is too old: it has no ") + symbol;
  };
#define GRAPHKIT_LOAD(name) load(&this->name, GRAPHKIT_TEXT(name));
  GRAPHKIT_DRIVER_FUNCTIONS(GRAPHKIT_LOAD)
#undef GRAPHKIT_LOAD
#undef GRAPHKIT_TEXT
#undef GRAPHKIT_TEXT_OF
  return error->empty();
}

std::string Driver::Problem(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return "";
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown error";
  return std::string(what) + ": " + name;
}

}  // namespace graphkit::exec
