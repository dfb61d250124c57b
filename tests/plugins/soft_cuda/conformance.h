// Checks for the conformance programs: plain CUDA programs that assert effects and errors of one
// family of calls by the documentation, on the software device and on a GPU alike. A program prints
// every check that fails and exits 1.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <vector>

namespace conformance {

inline int failures = 0;

inline void Report(const char* file, int line, const char* what) {
  std::printf("%s:%d: %s\n", file, line, what);
  ++failures;
}

inline void ExpectError(const char* file, int line, const char* call, int got, int want) {
  if (got == want) return;
  std::printf("%s:%d: %s returned %d (%s), expected %d (%s)\n", file, line, call, got,
              cudaGetErrorName(static_cast<cudaError_t>(got)), want,
              cudaGetErrorName(static_cast<cudaError_t>(want)));
  ++failures;
}

// True on the software device, whose driver alone has the function.
inline bool OnSoftDevice() {
  static void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return driver != nullptr && dlsym(driver, "graphkit_soft_set_conditional") != nullptr;
}

// The exit code of a program that needs more than a GPU machine has.
inline int SkipOnGpu(const char* family) {
  std::printf("%s: skipped, needs the software device\n", family);
  return 77;
}

inline std::vector<void (*)()> cases;

inline bool Add(void (*run)()) {
  cases.push_back(run);
  return true;
}

inline void RunCases() {
  for (void (*run)() : cases) run();
}

inline int Finish(const char* family) {
  std::printf("%s: %s\n", family, failures == 0 ? "conforms" : "differs");
  return failures == 0 ? 0 : 1;
}

}  // namespace conformance

// A part of a program's checks. RunCases() runs them in the order of the file.
#define CASE(name)                                                    \
  void name();                                                        \
  [[maybe_unused]] const bool name##_added = conformance::Add(&name); \
  void name()

#define EXPECT(condition)                                                             \
  do {                                                                                \
    if (!(condition)) conformance::Report(__FILE__, __LINE__, "not so: " #condition); \
  } while (0)
#define EXPECT_ERROR(want, call) \
  conformance::ExpectError(__FILE__, __LINE__, #call, static_cast<int>(call), want)
#define EXPECT_OK(call) EXPECT_ERROR(0, call)
// Left out on a GPU: NVIDIA's driver crashes there (a null pointer, a destroyed object), accepts
// what the software device refuses, or needs memory and devices that a machine may not have.
#define ON_SOFT(check)                 \
  do {                                 \
    if (conformance::OnSoftDevice()) { \
      check;                           \
    }                                  \
  } while (0)
// The documentation says that the call fails, but not how.
#define EXPECT_FAILS(call)                                                         \
  do {                                                                             \
    if ((call) == 0) conformance::Report(__FILE__, __LINE__, "succeeded: " #call); \
  } while (0)
