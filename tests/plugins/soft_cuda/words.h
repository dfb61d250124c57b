// Objects of the programs about nodes and execs: a stream, and 16 words on the device.
#pragma once

#include "graphs.h"

namespace conformance {

inline cudaStream_t stream;
inline unsigned* words;  // on the device

inline int RunOnWords(const char* family) {
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMalloc(&words, 64));
  RunCases();
  EXPECT_OK(cudaFree(words));
  return Finish(family);
}

}  // namespace conformance
