// Traces that grow in one way each: N graphs that write one buffer, N streams that a capture forks
// to, and so on. What is done for one of N must not depend on N: linear_test.py counts the
// instructions of each command at N and at 4 N, many_bench.cpp measures the time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "libgraphkit/ran/ran.h"

namespace graphkit {

struct ManyKind {
  std::string_view name;
  std::string_view what;
  Ran (*make)(uint32_t count);
};

std::span<const ManyKind> ManyKinds();

}  // namespace graphkit
