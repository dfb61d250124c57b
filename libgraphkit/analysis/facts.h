// All that is known of a trace before anything is judged: what graphs are and hold
// (memory_facts.h), and on top of it what their launches run, read and write. Each fact is made
// once, when it is first asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/launches/collectives.h"
#include "libgraphkit/analysis/launches/graph_writes.h"
#include "libgraphkit/analysis/launches/kernel_sites.h"
#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/once.h"

namespace graphkit {

class Facts : public MemoryFacts {
 public:
  using MemoryFacts::MemoryFacts;

  const CapturePlaces& places() const {
    return places_.Get([&] { return CapturePlaces(trace); });
  }
  // Kernels that exchange data with other devices.
  const KernelSet& communication() const {
    return communication_.Get([&] { return CommunicationKernels(trace); });
  }
  // By graph: a capture of it ended with an error, so that the program never got it.
  const std::vector<bool>& invalidated() const {
    return invalidated_.Get([&] { return CapturedWith(trace, CaptureStatus::kInvalidated); });
  }
  // By graph: it surely never ran and never will.
  const std::vector<bool>& never_run() const {
    return never_run_.Get([&] { return FindNeverRun(trace); });
  }
  const std::vector<HostCopy>& host_copies() const {
    return host_copies_.Get([&] { return FindHostCopies(trace); });
  }
  const std::vector<HostTime>& host_times() const {
    return host_times_.Get([&] { return FindHostTimes(trace); });
  }
  // By launch, the graph that it ran; none where it ran a version that isn't shown.
  const std::vector<GraphId>& ran() const {
    return ran_.Get([&] { return FindRan(trace); });
  }
  // By graph, its launches: indices in Trace::launches. Of ran.
  const std::vector<std::vector<uint32_t>>& launches() const {
    return launches_.Get([&] { return LaunchesByGraph(trace, ran()); });
  }
  // By exec, its launches: indices in Trace::launches.
  const Grouped& exec_launches() const {
    return exec_launches_.Get([&] {
      return Group(trace.launches, trace.execs.size(), [](const Launch& at) { return at.exec; });
    });
  }
  const LaunchOrder& launch_order() const {
    return launch_order_.Get([&] { return LaunchOrder(trace); });
  }
  // Of never_run.
  const KernelSites& kernel_sites() const {
    return kernel_sites_.Get([&] { return FindKernelSites(trace, never_run()); });
  }
  // Of ran.
  const RankCollectives& collectives() const {
    return collectives_.Get([&] { return SummarizeCollectives(trace, ran()); });
  }
  // By root graph. Of inputs, launches, and what became of freed blocks (lives).
  const std::vector<std::vector<StaleInput>>& stale_inputs() const {
    return stale_inputs_.Get([&] { return FindStaleInputs(*this); });
  }
  // Of blocks, lives, roots, launches, launch_order.
  const std::vector<Overwrite>& overwrites() const {
    return overwrites_.Get([&] { return FindOverwrites(*this); });
  }

 private:
  Once<CapturePlaces> places_;
  Once<KernelSet> communication_;
  Once<std::vector<bool>> invalidated_, never_run_;
  Once<std::vector<HostCopy>> host_copies_;
  Once<std::vector<HostTime>> host_times_;
  Once<std::vector<GraphId>> ran_;
  Once<std::vector<std::vector<uint32_t>>> launches_;
  Once<Grouped> exec_launches_;
  Once<LaunchOrder> launch_order_;
  Once<KernelSites> kernel_sites_;
  Once<RankCollectives> collectives_;
  Once<std::vector<std::vector<StaleInput>>> stale_inputs_;
  Once<std::vector<Overwrite>> overwrites_;
};

}  // namespace graphkit
