#include "libgraphkit/model/process.h"

#include <doctest/doctest.h>

#include <numeric>

#include "libgraphkit/model/trace.h"

namespace graphkit {
namespace {

TEST_CASE("the places of events are kept by device") {
  Trace trace;
  trace.records = 20;
  AppendHistoryEvents(&trace, 0, std::vector<Seq>{12, 13, 13, 16});
  AppendHistoryEvents(&trace, 1, std::vector<Seq>{14});
  REQUIRE(trace.history_events.size() == 2);
  CHECK(trace[trace.history_events[0].steps] == "0103");
  CHECK(trace.history_events[0].seq == 20);
  CHECK(trace.records == 22);
  CHECK(PlacesOfEvents(trace, 0) == std::vector<Seq>{12, 13, 13, 16});
  CHECK(PlacesOfEvents(trace, 1) == std::vector<Seq>{14});
  CHECK(PlacesOfEvents(trace, 2).empty());
  CHECK(CountHistoryEvents(trace) == 5);
}

TEST_CASE("a long history and far places take several rows") {
  Trace trace;
  std::vector<Seq> places(10'000);
  std::iota(places.begin(), places.end(), 7u);
  places.push_back(places.back() + 35);
  places.push_back(places.back() + 36);
  AppendHistoryEvents(&trace, 0, places);
  CHECK(trace.history_events.size() == 4);
  CHECK(PlacesOfEvents(trace, 0) == places);
}

}  // namespace
}  // namespace graphkit
