// Where the program launches kernels: outside of captures, and into graphs. A site is a kernel and
// the frames from its launch to the innermost one of the program's own code: a warm-up and a
// capture that call the same function share its sites.
//
//     Attend(…)   model.cu:31   ┐ the site             Attend(…)   model.cu:31
//     Step(…)     model.cu:52   ┘ (own frames: the     Step(…)     model.cu:52
//     WarmUp()    main.cu:80      innermost suffices)  Capture()   main.cu:90
//
// Known only of traces with call stacks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

struct KernelSite {
  KernelId kernel;
  uint32_t frame = 0;  // of the program's own code, in Trace::stack_frames: of all alike the first
  auto operator<=>(const KernelSite&) const = default;
};

// The values of each number that launches pass, each once: of an argument and an offset in it, or
// of an extent of the grid (Scalar::kGrid).
using Numbers = std::map<std::pair<uint16_t, uint16_t>, std::vector<uint64_t>>;

// Launches at one site.
struct SiteLaunches {
  struct Count {
    Seq seq = 0;
    uint64_t launches = 0;  // until then
  };
  std::vector<Count> counts;       // outside of captures
  uint64_t first = 0, last = 0;    // of these, among the launches of the thread
  ThreadId thread;                 // the first that made some: others aren't counted
  StackId stack;                   // of the first of these
  Numbers outside;                 // of captures
  std::vector<NodeId> nodes = {};  // that launches run, and as they were captured
  Numbers captured;

  uint64_t Before(Seq seq) const;
  uint64_t all() const { return counts.empty() ? 0 : counts.back().launches; }
};
using KernelSites = std::map<KernelSite, SiteLaunches>;

// `never_run`: by graph.
KernelSites FindKernelSites(const Trace& trace, const std::vector<bool>& never_run);

}  // namespace graphkit
