#include "libgraphkit/model/imported_from.h"

#include <algorithm>
#include <string>

#include "libgraphkit/model/trace.h"

namespace graphkit {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr size_t kMostEvents = 4096;  // in one row

}  // namespace

const MemoryHistory* HistoryOf(const Trace& trace) {
  return trace.histories.empty() ? nullptr : &trace.histories.front();
}

uint64_t CountHistoryEvents(const Trace& trace) {
  uint64_t count = 0;
  for (const HistoryEvents& events : trace.history_events) count += trace[events.steps].size();
  return count;
}

std::optional<Seq> StepOf(char digit) {
  const size_t step = kDigits.find(digit);
  if (step == kDigits.npos) return std::nullopt;
  return static_cast<Seq>(step);
}

std::vector<Seq> PlacesOfEvents(const Trace& trace, std::optional<int16_t> device) {
  std::vector<Seq> places;
  for (const HistoryEvents& events : trace.history_events) {
    if (device && events.device != *device) continue;
    Seq place = events.first;
    for (const char digit : trace[events.steps]) {
      places.push_back(place += StepOf(digit).value_or(0));
    }
  }
  return places;
}

void AppendHistoryEvents(Trace* trace, int16_t device, std::span<const Seq> places) {
  while (!places.empty()) {
    std::string steps = "0";
    for (size_t i = 1; i < std::min(places.size(), kMostEvents); ++i) {
      const Seq step = places[i] - places[i - 1];
      if (step >= kDigits.size()) break;
      steps += kDigits[step];
    }
    trace->history_events.push_back({.device = device,
                                     .first = places.front(),
                                     .steps = trace->strings.Intern(steps),
                                     .seq = trace->records++});
    places = places.subspan(steps.size());
  }
}

std::string_view FormatOf(const Trace& trace) {
  return trace.imported_from.empty() ? std::string_view()
                                     : trace[trace.imported_from.front().format];
}

}  // namespace graphkit
