// How much of a program runs in graphs: launches of kernels, copies and the bytes that they copy,
// inside of replays and outside; and what stayed outside, and why.
//
// Counted is what was submitted after the first launch of a graph: warm-up and captures before it
// don't count. A launch of a graph counts all kernels and copies in it, embedded graphs included; a
// conditional's body counts once, whether it runs or not, and however often.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

class Facts;

struct WorkCounts {
  uint64_t kernels = 0;
  uint64_t copies = 0;
  Bytes copied_bytes = 0;  // as far as it is known
  bool operator==(const WorkCounts&) const = default;
};

// The part that runs in graphs; nothing: there is none of either.
std::optional<double> ShareOf(uint64_t in_graphs, uint64_t eager);

struct CoverageShare {
  WorkCounts in_graphs;
  WorkCounts eager;
  // Of kernels; nothing: there are none.
  std::optional<double> kernels() const;
  bool operator==(const CoverageShare&) const = default;
};

// Why a kernel ran outside of graphs.
enum class EagerBecause : uint8_t {
  kNeverCaptured,
  kCaptureBroke,   // it was captured only in captures that broke
  kNeverLaunched,  // a graph has it that is never launched
  kAlsoInGraphs,   // a graph that is launched has it, and it runs outside besides
};

struct CoverageRow {
  std::string name;  // of a stream, or an NVTX range
  CoverageShare share;
  bool operator==(const CoverageRow&) const = default;
};

struct EagerKernel {
  KernelId kernel;
  EagerBecause because = EagerBecause::kNeverCaptured;
  uint64_t launches = 0;
  bool operator==(const EagerKernel&) const = default;
};

struct Coverage {
  std::string unknown;  // why eager work isn't known; empty: it is
  CoverageShare share;
  WorkCounts before;  // eager, before the first launch
  uint64_t graph_launches = 0;
  uint64_t conditional_kernels = 0;  // of those in graphs: in bodies of conditionals
  uint64_t broken_captures = 0;
  std::vector<CoverageRow> by_stream;  // the most eager kernels first
  // Where each piece of work was recorded (`--scope all`); empty otherwise.
  std::vector<CoverageRow> by_range;  // what lies in ranges of that name, inner ones included
  std::vector<EagerKernel> kernels;   // outside of graphs, the most launches first
  bool operator==(const Coverage&) const = default;
};

Coverage FindCoverage(const Facts& facts);

}  // namespace graphkit
