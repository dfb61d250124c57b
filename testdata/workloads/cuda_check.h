// Helpers of every workload: CUDA calls that are checked, and numbers from the command line.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Ends the program with the call, its error and its line unless it succeeded.
#define CHECK(call) CheckCuda((call), cudaSuccess, #call, __FILE__, __LINE__)

// Ends the program likewise unless the call failed with `error`; takes the error off the thread.
#define EXPECT(error, call) \
  (CheckCuda((call), (error), #call, __FILE__, __LINE__), cudaGetLastError())

inline void CheckCuda(cudaError_t got, cudaError_t wanted, const char* call, const char* file,
                      int line) {
  if (got == wanted) return;
  std::fprintf(stderr, "%s:%d: %s: %s (%d: %s), expected %s\n", file, line, call,
               cudaGetErrorName(got), static_cast<int>(got), cudaGetErrorString(got),
               cudaGetErrorName(wanted));
  std::exit(1);
}

// True if the command line holds the flag `name`.
inline bool Flag(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return true;
  }
  return false;
}

// The number after `name` on the command line; `otherwise` where there is none.
inline long Number(int argc, char** argv, const char* name, long otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::strtol(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
