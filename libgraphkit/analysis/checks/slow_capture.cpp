// slow-capture: captures whose calls take long on the host, or that something held up.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr Nanoseconds kSlowCall = 200'000;       // on average
constexpr Nanoseconds kLongPause = 100'000'000;  // before one node

}  // namespace

// Times of the software device are those of a simulation.
std::vector<Finding> FindSlowCaptures(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (trace.process.device == DeviceKind::kSoft) return {};
  const std::vector<HostTime>& times = facts.host_times();
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    const HostTime& time = times[graph.index()];
    if (time.calls == 0) return;
    if (time.per_call() < kSlowCall && time.longest < kLongPause) return;
    finding->message = "capturing " + NameOf(trace, graph) + " took the host " +
                       FormatNanoseconds(time.total) + ": " + FormatNanoseconds(time.per_call()) +
                       " for each of " + Count(time.calls, "call");
    finding->advice =
        "warm up what runs for the first time before the capture, and collect garbage before it";
    if (!time.longest_before.valid()) return;
    finding->nodes = {time.longest_before};
    finding->evidence.push_back({.text = "the longest pause was " +
                                         FormatNanoseconds(time.longest) + ", before " +
                                         NameOf(trace, time.longest_before),
                                 .nodes = {time.longest_before},
                                 .stack = trace[time.longest_before].stack});
  });
}

}  // namespace graphkit
