#include "libgraphkit/analysis/names/capture_places.h"

#include <algorithm>

#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {

CapturePlaces::CapturePlaces(const Trace& trace) : trace_(trace) {
  for (const Capture& capture : trace.captures) {
    if (!capture.graph.valid()) continue;
    begun_.push_back({capture.begin, capture.end, capture.graph, capture.graph});
  }
  std::ranges::stable_sort(begun_, {}, &Begun::begin);
  for (size_t i = 1; i < begun_.size(); ++i) {
    if (begun_[i].last_end > begun_[i - 1].last_end) continue;
    begun_[i].last_end = begun_[i - 1].last_end;
    begun_[i].last = begun_[i - 1].last;
  }
}

// Of several captures that are open the first that began.
std::string CapturePlaces::Of(Seq seq) const {
  const auto end = std::ranges::upper_bound(begun_, seq, {}, &Begun::begin);
  const auto open = std::partition_point(
      begun_.begin(), end, [&](const Begun& capture) { return capture.last_end <= seq; });
  if (open != end) return "in the capture of " + NameOf(trace_, open->graph);
  if (end != begun_.begin()) return "after the capture of " + NameOf(trace_, std::prev(end)->last);
  return trace_.captures.empty() ? "outside captures" : "before the first capture";
}

}  // namespace graphkit
