#include "libgraphkit/analysis/explain/held_at.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "libgraphkit/analysis/memory/memory_facts.h"

namespace graphkit {
namespace {

std::optional<uint64_t> NumberIn(const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// The device that had the most in use.
std::optional<DeviceIndex> BusiestDevice(const MemoryTimeline& timeline) {
  std::optional<DeviceIndex> busiest;
  Bytes most = 0;
  for (const DeviceIndex device : timeline.devices()) {
    const Bytes peak = timeline.Of(device).peak_in_use.in_use;
    if (busiest && peak <= most) continue;
    busiest = device;
    most = peak;
  }
  return busiest;
}

Result<Seq> SeqOf(uint64_t number, const std::vector<Seq>& events, const Trace& trace) {
  const uint64_t count = events.empty() ? trace.records : events.size();
  if (number < count) return events.empty() ? static_cast<Seq>(number) : events[number];
  const std::string things = events.empty() ? "records" : "events";
  return Error{.message = "--at " + std::to_string(number) + ": it has " + FormatCount(count) +
                          " " + things + ", the first is 0",
               .hint = "write peak or end"};
}

}  // namespace

std::string RecordText(const std::vector<Seq>& events, Seq seq) {
  if (events.empty()) return "record " + FormatCount(seq);
  const auto event = std::ranges::lower_bound(events, seq) - events.begin();
  return "event " + FormatCount(static_cast<uint64_t>(event));
}

std::string CheckMoment(const std::string& text) {
  if (text == "peak" || text == "end" || NumberIn(text)) return "";
  return "invalid moment '" + text + "'; write peak, end, or the number of an event";
}

Result<HeldAt> FindHeldAt(const std::string& text, const Trace& trace) {
  if (text.empty() || text == "end") return HeldAt();
  const MemoryFacts facts(trace);
  const MemoryTimeline& timeline = facts.timeline();
  const std::optional<DeviceIndex> device = BusiestDevice(timeline);
  const std::vector<Seq> events = PlacesOfEvents(trace, device.value_or(0));
  HeldAt at{.name = text, .device = device};
  MemoryAt moment;
  if (const auto number = NumberIn(text)) {
    const Result<Seq> seq = SeqOf(*number, events, trace);
    if (!seq) return seq.error();
    moment = timeline.After(device.value_or(0), *seq);
    at.text = std::string("after ") + (events.empty() ? "record " : "event ") +
              FormatCount(*number) + ", " + FormatBytes(moment.in_use) + ",";
  } else {
    moment = (device ? timeline.Of(*device) : timeline.all()).peak_in_use;
    at.text = "at the peak in use, " + FormatBytes(moment.in_use) + " (" +
              RecordText(events, moment.seq) + "),";
  }
  at.seq = moment.seq;
  return at;
}

}  // namespace graphkit
