// The part that the dynamic loader talks to (rtld-audit(7)): `graphkit trace` names this library in
// LD_AUDIT when a program runs on the software device. It is asked where each library is, so that
// an RPATH to NVIDIA's own leads to the software device too, and it hears of each object once it is
// mapped, before a line of it runs: the program, a library of it, or one that is opened later.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/soft_cuda/audit/elf_symbols.h"
#include "plugins/soft_cuda/audit/static_runtime.h"

namespace {

char folder[PATH_MAX];  // where this library is, and the software device's others

void FindFolder() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&FindFolder), &self) == 0) return;
  snprintf(folder, sizeof folder, "%s", self.dli_fname);
  if (char* slash = strrchr(folder, '/')) *slash = '\0';
}

// The software device's library of this name.
bool FindOurs(const char* name, char* ours, size_t room) {
  static constexpr const char* kFolders[] = {"", "libraries/"};
  for (const char* below : kFolders) {
    snprintf(ours, room, "%s/%s%s", folder, below, name);
    if (access(ours, R_OK) == 0) return true;
  }
  return false;
}

// The one that stands in for the file at `path`. Its name is the file's own, or that of a version
// of its symbols: in a wheel that auditwheel made, libcudart.so.13 is "libcudart.<hash>.so.13".
bool FindStandIn(const char* path, char* ours, size_t room) {
  const char* slash = strrchr(path, '/');
  if (FindOurs(slash != nullptr ? slash + 1 : path, ours, room)) return true;
  if (slash == nullptr) return false;  // no path yet
  bool found = false;
  const graphkit::MappedElf object(path);
  object.ForEachVersion([&](const char* version) {
    found = found || (strncmp(version, "lib", 3) == 0 && FindOurs(version, ours, room));
  });
  return found;
}

// CUDA 11 and older: their shared runtime has symbols of the version "libcudart.so.11.0".
bool IsOldRuntime(const char* path) {
  bool old = false;
  const graphkit::MappedElf object(path);
  object.ForEachVersion([&](const char* version) {
    old = old || (strncmp(version, "libcudart.so.", 13) == 0 && atoi(version + 13) < 12);
  });
  return old;
}

void SayTooOld(const char* path, const char* what) {
  dprintf(STDERR_FILENO,
          "graphkit: %s %s CUDA 11 or older, and the software device stands in for CUDA 12 and 13: "
          "install a build of it for CUDA 12 or 13, or run it on a GPU\n",
          path, what);
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
  if (folder[0] == '\0') return const_cast<char*>(name);
  const int before = errno;
  const bool stands_in = FindStandIn(name, ours, sizeof ours);
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
  const int before = errno;
  if (IsOldRuntime(path)) SayTooOld(path, "is the runtime of");
#ifdef __x86_64__
  switch (graphkit::LeadStaticRuntime(path, object->l_addr, folder)) {
    case graphkit::LedRuntime::kNone:
    case graphkit::LedRuntime::kLed:
      break;
    case graphkit::LedRuntime::kTooOld:
      SayTooOld(path, "contains the runtime of");
      break;
    case graphkit::LedRuntime::kRefused:
      dprintf(
          STDERR_FILENO,
          "graphkit: %s contains the CUDA runtime, and its code can't be changed here (%s): run it "
          "where code may be written to, build it with nvcc -cudart shared, or run it on a GPU\n",
          path, strerror(errno));
      break;
  }
#endif
  errno = before;
  return 0;
}

}  // extern "C"
