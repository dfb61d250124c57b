// event-stream-leak: streams and events that were never destroyed.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/naming.h"

namespace graphkit {

std::vector<Finding> FindEventStreamLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  Finding finding;
  for (size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    if (stream.kind == StreamKind::kCreated && stream.destroyed == kNever) {
      finding.streams.emplace_back(i);
    }
  }
  uint64_t events = 0;
  for (const Event& event : trace.events) events += event.destroyed == kNever;
  if (finding.streams.empty() && events == 0) return {};
  if (!finding.streams.empty()) {
    finding.message =
        Count(finding.streams.size(), "stream") + " (" + ListOf(trace, finding.streams) + ")";
  }
  if (events > 0)
    finding.message += (finding.message.empty() ? "" : " and ") + Count(events, "event");
  const bool one = finding.streams.size() + events == 1;
  finding.message += one ? " was never destroyed" : " were never destroyed";
  finding.advice = "destroy streams and events when they are used no more, or keep them in a pool";
  return {finding};
}

}  // namespace graphkit
