// All that is known of a trace before anything is judged: what graphs are and hold
// (memory_facts.h), and on top of it what their launches run, read and write. Each fact is made
// once, when it is first asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/launches/graph_writes.h"
#include "libgraphkit/analysis/launches/launches.h"
#include "libgraphkit/analysis/launches/rank_collectives.h"
#include "libgraphkit/analysis/launches/spoilt_reads.h"
#include "libgraphkit/analysis/memory/known_memory.h"
#include "libgraphkit/analysis/memory/memory_facts.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/fact.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/ran/graph_places.h"
#include "libgraphkit/ran/launch_order.h"

namespace graphkit {

class Facts : public MemoryFacts {
 public:
  using MemoryFacts::MemoryFacts;

  const Fact<CapturePlaces> places{[this] { return CapturePlaces(trace); }};
  // Kernels that exchange data with other devices.
  const Fact<KernelSet> communication{[this] { return CommunicationKernels(trace); }};
  // By graph: a capture of it ended with an error, so that the program never got it.
  const Fact<std::vector<bool>> invalidated{
      [this] { return CapturedWith(trace, CaptureStatus::kInvalidated); }};
  // By graph: it surely never ran and never will.
  const Fact<std::vector<bool>> never_run{[this] { return FindNeverRun(trace); }};
  const Fact<std::vector<HostCopy>> host_copies{[this] { return FindHostCopies(trace); }};
  const Fact<std::vector<HostTime>> host_times{[this] { return FindHostTimes(trace); }};
  // By launch, the graph that it ran; none where it ran a version that isn't shown.
  const Fact<std::vector<GraphId>> ran{[this] { return FindRan(trace); }};
  // By graph, its launches: indices in Trace::launches. Of ran.
  const Fact<std::vector<std::vector<uint32_t>>> launches{
      [this] { return LaunchesByGraph(trace, ran()); }};
  // By graph, the execs that took it over: indices in Ran::exec_graphs.
  const Fact<Grouped> exec_graphs{[this] {
    return Group(trace.exec_graphs, trace.graphs.size(),
                 [](const ExecGraph& of) { return of.graph; });
  }};
  // By exec, its launches: indices in Trace::launches.
  const Fact<Grouped> exec_launches{[this] {
    return Group(trace.launches, trace.execs.size(), [](const Launch& at) { return at.exec; });
  }};
  const Fact<GraphPlaces> graph_places{[this] { return GraphPlaces(trace); }};
  const Fact<LaunchOrder> launch_order{[this] { return LaunchOrder(trace); }};
  // Of never_run, roots.
  const Fact<KernelSites> kernel_sites{[this] { return FindKernelSites(*this); }};
  // Of ran.
  const Fact<RankCollectives> collectives{[this] { return SummarizeCollectives(trace, ran()); }};
  // By root graph. Of inputs, launches, and what became of freed blocks (lives).
  const Fact<std::vector<std::vector<StaleInput>>> stale_inputs{
      [this] { return FindStaleInputs(*this); }};
  // Of blocks, lives, roots, launches.
  const Fact<std::vector<SpoiltRead>> spoilt_reads{[this] { return FindSpoiltReads(*this); }};
  // Of blocks, lives, roots, launches, launch_order.
  const Fact<std::vector<Overwrite>> overwrites{[this] { return FindOverwrites(*this); }};
};

}  // namespace graphkit
