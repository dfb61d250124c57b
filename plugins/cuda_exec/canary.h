// The memory work of a node of a rebuilt graph: the same on a GPU and in a host function.
#pragma once

#include "tools/graphkit/replay/executor_abi.h"

#ifdef __CUDACC__
#define GRAPHKIT_BOTH __device__ inline
#else
#define GRAPHKIT_BOTH inline
#endif

namespace graphkit::exec {

// The first node that found its bytes destroyed.
struct Report {
  unsigned long long checks;
  unsigned long long found;
  unsigned int claimed;
  unsigned int node;
  unsigned int touch;
  unsigned int unused;
};

struct NodeWork {
  const graphkit_touch* touches;      // of the job
  const graphkit_stretch* stretches;  // of the job
  unsigned char* memory;
  Report* report;
  unsigned int node;
  unsigned int first_touch;
  unsigned int touch_count;
  unsigned int held_us;
};

GRAPHKIT_BOTH unsigned long long CanaryOf(unsigned int node, unsigned int block) {
  return (static_cast<unsigned long long>(node) + 1) << 32 | (block + 1ull);
}

GRAPHKIT_BOTH bool IsOf(unsigned long long canary, unsigned int block) {
  return (canary & 0xffffffffull) == block + 1ull;
}

// Checks, or writes, every `stride`th word from `first` on. `claim(report)` is true for one caller.
template <typename Claim>
GRAPHKIT_BOTH unsigned long long CheckTouch(const NodeWork& work, unsigned int touch,
                                            unsigned long long first, unsigned long long stride,
                                            Claim claim) {
  const graphkit_touch& t = work.touches[touch];
  unsigned long long checks = 0;
  for (unsigned int i = 0; i < t.stretches; ++i) {
    const graphkit_stretch& s = work.stretches[t.first_stretch + i];
    auto* words = reinterpret_cast<volatile unsigned long long*>(work.memory + s.offset);
    for (unsigned long long word = first; word < s.size / 8; word += stride) {
      ++checks;
      const unsigned long long found = words[word];
      if (IsOf(found, t.block) || !claim(work.report)) continue;
      work.report->node = work.node;
      work.report->touch = touch;
      work.report->found = found;
    }
  }
  return checks;
}

GRAPHKIT_BOTH void WriteTouch(const NodeWork& work, unsigned int touch, unsigned long long first,
                              unsigned long long stride) {
  const graphkit_touch& t = work.touches[touch];
  for (unsigned int i = 0; i < t.stretches; ++i) {
    const graphkit_stretch& s = work.stretches[t.first_stretch + i];
    auto* words = reinterpret_cast<volatile unsigned long long*>(work.memory + s.offset);
    for (unsigned long long word = first; word < s.size / 8; word += stride) {
      words[word] = CanaryOf(work.node, t.block);
    }
  }
}

// First all that was there before is checked, then what the node makes is written.
template <typename Claim>
GRAPHKIT_BOTH unsigned long long Begin(const NodeWork& work, unsigned long long first,
                                       unsigned long long stride, Claim claim) {
  unsigned long long checks = 0;
  const unsigned int end = work.first_touch + work.touch_count;
  for (unsigned int touch = work.first_touch; touch < end; ++touch) {
    if (work.touches[touch].checks != 0) checks += CheckTouch(work, touch, first, stride, claim);
    if (work.touches[touch].writes != 0) WriteTouch(work, touch, first, stride);
  }
  return checks;
}

// The node's memory is still intact when it ends.
template <typename Claim>
GRAPHKIT_BOTH unsigned long long End(const NodeWork& work, unsigned long long first,
                                     unsigned long long stride, Claim claim) {
  unsigned long long checks = 0;
  const unsigned int end = work.first_touch + work.touch_count;
  for (unsigned int touch = work.first_touch; touch < end; ++touch) {
    if (work.touches[touch].checks != 0 || work.touches[touch].writes != 0) {
      checks += CheckTouch(work, touch, first, stride, claim);
    }
  }
  return checks;
}

}  // namespace graphkit::exec
