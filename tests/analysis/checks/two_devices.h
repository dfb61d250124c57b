// Devices of one process, a rank each of one communicator: an all_reduce and an all_gather, which
// the second has the other way round unless it is `fixed`, and of `count` elements.
#pragma once

#include "tests/analysis/pieces.h"

namespace graphkit {

inline Ran TwoDevices(bool fixed, uint64_t count = 8) {
  TraceBuilder t;
  const StreamId streams[] = {t.Stream("device 0"), t.Stream("device 1")};
  const CommunicatorId ranks[] = {t.Communicator(2, 0, 1), t.Communicator(2, 1, 1)};
  for (int i = 0; i < 2; ++i) {
    const bool swapped = i == 1 && !fixed;
    const GraphId graph = t.BeginCapture(streams[i]);
    for (const bool gathers : {swapped, !swapped}) {
      t.Kernel(streams[i], "nccl");
      t.Collect(ranks[i], gathers ? CollectiveKind::kAllGather : CollectiveKind::kAllReduce,
                i == 1 ? count : 8, ElementType::kFp32);
    }
    t.EndCapture(streams[i]);
    t.Launch(t.Instantiate(graph), streams[i]);
  }
  return t.Build();
}

}  // namespace graphkit
