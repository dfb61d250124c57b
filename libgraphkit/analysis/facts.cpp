#include "libgraphkit/analysis/facts.h"

namespace graphkit {

const CapturePlaces& Facts::places() const {
  return places_.Get([&] { return CapturePlaces(trace); });
}

const KernelSet& Facts::communication() const {
  return communication_.Get([&] { return CommunicationKernels(trace); });
}

const std::vector<bool>& Facts::invalidated() const {
  return invalidated_.Get([&] { return CapturedWith(trace, CaptureStatus::kInvalidated); });
}

const std::vector<bool>& Facts::never_run() const {
  return never_run_.Get([&] { return FindNeverRun(trace); });
}

const std::vector<HostCopy>& Facts::host_copies() const {
  return host_copies_.Get([&] { return FindHostCopies(trace); });
}

const std::vector<HostTime>& Facts::host_times() const {
  return host_times_.Get([&] { return FindHostTimes(trace); });
}

const std::vector<GraphId>& Facts::ran() const {
  return ran_.Get([&] { return FindRan(trace); });
}

const std::vector<std::vector<uint32_t>>& Facts::launches() const {
  return launches_.Get([&] { return LaunchesByGraph(trace, ran()); });
}

const LaunchOrder& Facts::launch_order() const {
  return launch_order_.Get([&] { return LaunchOrder(trace); });
}

const RankCollectives& Facts::collectives() const {
  return collectives_.Get([&] { return SummarizeCollectives(trace, ran()); });
}

const std::vector<std::vector<StaleInput>>& Facts::stale_inputs() const {
  return stale_inputs_.Get([&] { return FindStaleInputs(*this); });
}

const std::vector<Overwrite>& Facts::overwrites() const {
  return overwrites_.Get([&] { return FindOverwrites(*this); });
}

}  // namespace graphkit
