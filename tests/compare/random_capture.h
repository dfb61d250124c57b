// Random captures for comparisons: a few streams that fork and join, kernels of a few names with
// shapes, copies of known sizes, child graphs.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/build_trace.h"

namespace graphkit {

struct RandomCaptureOptions {
  int streams = 4;
  int nodes = 40;
  int names = 20;  // of kernels: few make many nodes alike
  bool child = true;
};

inline Ran RandomCapture(std::mt19937_64& random, const RandomCaptureOptions& options) {
  const auto below = [&random](int bound) {
    return static_cast<int>(random() % static_cast<uint64_t>(bound));
  };
  TraceBuilder t;
  std::vector<StreamId> streams;
  for (int i = 0; i < options.streams; ++i) streams.push_back(t.Stream());
  std::vector<BlockId> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(t.Alloc({}, Bytes{512} << i));
  const GraphId inner = t.Graph("inner");
  if (options.child) t.Add(inner, NodeKind::kMemset, {t.Add(inner, NodeKind::kKernel)});
  t.BeginCapture(streams[0], "step");
  t.Kernel(streams[0], "first");
  for (size_t i = 1; i < streams.size(); ++i) t.Order(streams[0], streams[i]);
  for (int i = 0; i < options.nodes; ++i) {
    const StreamId stream = streams[static_cast<size_t>(below(options.streams))];
    const int what = below(20);
    if (what < 4) {
      t.Order(streams[static_cast<size_t>(below(options.streams))], stream);
    } else if (what == 4) {
      t.Memcpy(stream, {Reads(blocks[static_cast<size_t>(below(4))], 0, 256)});
    } else if (what == 5) {
      t.ProgrammaticKernel(stream, "k" + std::to_string(below(options.names)));
    } else if (what == 6 && options.child) {
      t.ChildGraph(stream, inner);
    } else {
      t.Kernel(stream, "k" + std::to_string(below(options.names)));
    }
  }
  for (size_t i = 1; i < streams.size(); ++i) t.Order(streams[i], streams[0]);
  t.Kernel(streams[0], "last");
  t.EndCapture(streams[0]);
  return t.Build();
}

}  // namespace graphkit
