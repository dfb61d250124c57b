#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft {

void LoadInjection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "graphkit soft device: CUDA_INJECTION64_PATH: %s\n", dlerror());
    return;
  }
  auto* initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) {
    std::fprintf(
        stderr, "graphkit soft device: %s has no InitializeInjection; nothing is injected\n", path);
    return;
  }
  initialize();
}

}  // namespace graphkit::soft
