// event-stream-leak: streams and events that were never destroyed.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

constexpr size_t kPoolStreams = 4;  // of a pool, at least

// By stream: whether anything of the trace was done on it.
std::vector<bool> UsedStreams(const Trace& trace) {
  std::vector<bool> used(trace.streams.size());
  const auto use = [&](StreamId stream) {
    if (stream.valid()) used[stream.index()] = true;
  };
  for (const Node& node : trace.nodes) use(node.stream);
  for (const StreamOp& op : trace.stream_ops) use(op.stream);
  for (const Capture& capture : trace.captures) use(capture.origin);
  for (const Launch& launch : trace.launches) use(launch.stream);
  for (const EagerWork& work : trace.works) use(work.stream);
  for (const Block& block : trace.blocks) use(block.stream);
  return used;
}

bool Kept(const Stream& stream) {
  return stream.kind == StreamKind::kCreated && stream.destroyed == kNever;
}

}  // namespace

std::vector<Finding> FindEventStreamLeaks(const Facts& facts) {
  const Trace& trace = facts.trace;
  if (!KnowsWhatWasFreed(trace)) return {};
  Finding finding;
  const std::vector<bool> used = UsedStreams(trace);
  uint64_t unused = 0;
  for (size_t i = 0; i < trace.streams.size(); ++i) {
    if (!Kept(trace.streams[i])) continue;
    finding.streams.emplace_back(i);
    unused += !used[i];
  }
  uint64_t events = 0;
  for (const Event& event : trace.events) events += event.destroyed == kNever;
  if (finding.streams.empty() && events == 0) return {};
  // Only a library that hands streams out makes many and uses few.
  std::vector<Finding> findings;
  if (finding.streams.size() >= kPoolStreams && unused > finding.streams.size() / 2) {
    finding.message = "kept until the end: " + Count(finding.streams.size(), "stream") + ", " +
                      FormatCount(unused) + " never used; typical of a library's stream pool";
    findings.push_back(std::move(finding));
    finding = {};
    if (events == 0) return findings;
  }
  if (!finding.streams.empty()) {
    finding.message =
        Count(finding.streams.size(), "stream") + " (" + ListOf(trace, finding.streams) + ")";
  }
  if (events > 0)
    finding.message += (finding.message.empty() ? "" : " and ") + Count(events, "event");
  const bool one = finding.streams.size() + events == 1;
  finding.message += one ? " was never destroyed" : " were never destroyed";
  finding.advice = "destroy streams and events when they are used no more, or keep them in a pool";
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace graphkit
