#include "libgraphkit/analysis/launches/host_time.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace graphkit {

Nanoseconds TimeAt(const Trace& trace, Seq seq) {
  return seq < trace.times.size() ? trace.times[seq] : 0;
}

std::vector<HostTime> FindHostTimes(const Trace& trace) {
  std::vector<HostTime> times(trace.graphs.size());
  std::vector<Nanoseconds> since(trace.graphs.size());  // of an open capture: its last record
  for (const Capture& capture : trace.captures) {
    if (capture.graph.index() >= times.size()) continue;
    const Nanoseconds begin = TimeAt(trace, capture.begin);
    const Nanoseconds end = TimeAt(trace, capture.end);
    if (begin == 0 || end < begin) continue;
    times[capture.graph.index()].total += end - begin;
    since[capture.graph.index()] = begin;
  }
  for (size_t node = 0; node < trace.nodes.size(); ++node) {
    const Node& captured = trace.nodes[node];
    if (captured.graph.index() >= times.size() || !captured.stream.valid()) continue;
    if (captured.source == Source::kDerived) continue;  // no call made it
    HostTime& time = times[captured.graph.index()];
    const Nanoseconds now = TimeAt(trace, captured.seq);
    if (time.total == 0) continue;
    ++time.calls;
    Nanoseconds& last = since[captured.graph.index()];
    if (now == 0) continue;
    if (now > last && now - last > time.longest) {
      time.longest = now - last;
      time.longest_before = NodeId(node);
    }
    last = std::max(last, now);
  }
  return times;
}

std::string FormatNanoseconds(Nanoseconds ns) {
  if (ns < 1000) return std::to_string(ns) + " ns";
  constexpr std::array kUnits = {"us", "ms", "s"};
  double value = static_cast<double>(ns) / 1000;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  char text[32];
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, kUnits[unit]);
  return text;
}

}  // namespace graphkit
