// The part that the dynamic loader talks to (rtld-audit(7)): `graphkit trace` names this library in
// LD_AUDIT when a program runs on the software device. It is asked where each library is, so that
// an RPATH to NVIDIA's own leads to the software device too, and it hears of each object once it is
// mapped, before a line of it runs: the program, a library of it, or one that is opened later.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/soft_cuda/audit/static_runtime.h"

namespace {

char folder[PATH_MAX];  // where this library is, and the software device's others

void FindFolder() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&FindFolder), &self) == 0) return;
  snprintf(folder, sizeof folder, "%s", self.dli_fname);
  if (char* slash = strrchr(folder, '/')) *slash = '\0';
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  FindFolder();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// Asked with the name as the program has it, then with each path that it might be found at.
__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t*, unsigned) {
  static char ours[2 * PATH_MAX];  // the loader's lock is held
  const char* slash = strrchr(name, '/');
  const char* file = slash != nullptr ? slash + 1 : name;
  if (folder[0] == '\0') return const_cast<char*>(name);
  const int before = errno;
  snprintf(ours, sizeof ours, "%s/%s", folder, file);
  bool stands_in = access(ours, R_OK) == 0;
  if (!stands_in) {
    snprintf(ours, sizeof ours, "%s/libraries/%s", folder, file);
    stands_in = access(ours, R_OK) == 0;
  }
  errno = before;
  return stands_in ? ours : const_cast<char*>(name);
}

__attribute__((visibility("default"))) unsigned la_objopen(link_map* object, Lmid_t space,
                                                           uintptr_t*) {
  if (space != LM_ID_BASE || folder[0] == '\0') return 0;
  const bool program = object->l_name == nullptr || object->l_name[0] == '\0';
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", program ? "/proc/self/exe" : object->l_name);
  if (program) {
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) path[length] = '\0';
  }
  if (strncmp(path, folder, strlen(folder)) == 0) return 0;  // the software device itself
#ifdef __x86_64__
  const int before = errno;
  switch (graphkit::LeadStaticRuntime(path, object->l_addr, folder)) {
    case graphkit::LedRuntime::kNone:
    case graphkit::LedRuntime::kLed:
      break;
    case graphkit::LedRuntime::kTooOld:
      dprintf(STDERR_FILENO,
              "graphkit: %s has the runtime of CUDA 11 or older inside; the software device stands "
              "in for CUDA 12 and 13: rebuild it with one of those\n",
              path);
      break;
    case graphkit::LedRuntime::kRefused:
      dprintf(STDERR_FILENO,
              "graphkit: %s has the CUDA runtime inside, and its code can't be changed (%s); "
              "rebuild it with: nvcc -cudart shared\n",
              path, strerror(errno));
      break;
  }
  errno = before;
#endif
  return 0;
}

}  // extern "C"
