// All that is known of a trace before anything is judged: what graphs are and hold
// (memory_facts.h), and on top of it what their launches run, read and write. Each fact is made
// once, when it is first asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/launches/collectives.h"
#include "libgraphkit/analysis/launches/graph_writes.h"
#include "libgraphkit/analysis/launches/host_time.h"
#include "libgraphkit/analysis/launches/launch_order.h"
#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/host_copies.h"
#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/capture_places.h"
#include "libgraphkit/analysis/names/kernel_names.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/once.h"

namespace graphkit {

class Facts : public MemoryFacts {
 public:
  using MemoryFacts::MemoryFacts;

  const CapturePlaces& places() const;
  // Kernels that exchange data with other devices.
  const KernelSet& communication() const;
  // By graph: a capture of it ended with an error, so that the program never got it.
  const std::vector<bool>& invalidated() const;
  // By graph: it surely never ran and never will.
  const std::vector<bool>& never_run() const;
  const std::vector<HostCopy>& host_copies() const;
  const std::vector<HostTime>& host_times() const;
  // By launch, the graph that it ran; none where it ran a version that isn't shown.
  const std::vector<GraphId>& ran() const;
  // By graph, its launches: indices in Trace::launches. Of ran.
  const std::vector<std::vector<uint32_t>>& launches() const;
  const LaunchOrder& launch_order() const;
  // Of ran.
  const RankCollectives& collectives() const;
  // By root graph. Of inputs, launches, and what became of freed blocks (lives).
  const std::vector<std::vector<StaleInput>>& stale_inputs() const;
  // Of blocks, lives, roots, launches, launch_order.
  const std::vector<Overwrite>& overwrites() const;

 private:
  Once<CapturePlaces> places_;
  Once<KernelSet> communication_;
  Once<std::vector<bool>> invalidated_;
  Once<std::vector<bool>> never_run_;
  Once<std::vector<HostCopy>> host_copies_;
  Once<std::vector<HostTime>> host_times_;
  Once<std::vector<GraphId>> ran_;
  Once<std::vector<std::vector<uint32_t>>> launches_;
  Once<LaunchOrder> launch_order_;
  Once<RankCollectives> collectives_;
  Once<std::vector<std::vector<StaleInput>>> stale_inputs_;
  Once<std::vector<Overwrite>> overwrites_;
};

}  // namespace graphkit
