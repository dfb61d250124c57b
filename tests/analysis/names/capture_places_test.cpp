#include "libgraphkit/analysis/names/naming.h"

#include <doctest/doctest.h>

#include <string>

#include "libgraphkit/random.h"

namespace graphkit {
namespace {

// By a look at each capture, in the order in which they began.
std::string SlowPlace(const Ran& trace, Seq seq) {
  const Capture* last = nullptr;
  for (const Capture& capture : trace.captures) {
    if (capture.begin > seq || !capture.graph.valid()) continue;
    const std::string graph = "graph " + std::to_string(capture.graph.value);
    if (seq < capture.end) return "in the capture of " + graph;
    if (last == nullptr || capture.end > last->end) last = &capture;
  }
  if (last != nullptr) return "after the capture of graph " + std::to_string(last->graph.value);
  return trace.captures.empty() ? "outside captures" : "before the first capture";
}

// Captures of several threads lie beside each other; some never end, some have no graph.
TEST_CASE("a call's place is what a look at every capture says") {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Ran trace;
    Seq now = 0;
    for (uint64_t i = random.Below(8); i > 0; --i) {
      now += static_cast<Seq>(1 + random.Below(6));
      Capture capture{.begin = now, .end = now + static_cast<Seq>(1 + random.Below(20))};
      if (random.Below(10) == 0) capture.end = kNever;
      if (random.Below(5) != 0) {
        capture.graph = GraphId(trace.graphs.size());
        trace.graphs.emplace_back();
      }
      trace.captures.push_back(capture);
    }
    const CapturePlaces places(trace);
    CAPTURE(seed);
    for (Seq seq = 0; seq < now + 25; ++seq) REQUIRE(places.Of(seq) == SlowPlace(trace, seq));
  }
}

}  // namespace
}  // namespace graphkit
