#include "tools/graphkit/files/held_at.h"

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

// The places of the device's events; empty: it isn't a snapshot.
std::vector<Seq> EventsOf(const Imported& imported, DeviceIndex device) {
  if (!imported.snapshot || static_cast<size_t>(device) >= imported.snapshot->events.size()) {
    return {};
  }
  return imported.snapshot->events[static_cast<size_t>(device)];
}

std::string PlaceText(const std::vector<Seq>& events, Seq seq) {
  if (events.empty()) return "record " + FormatCount(seq);
  const auto event = std::ranges::lower_bound(events, seq) - events.begin();
  return "event " + FormatCount(static_cast<uint64_t>(event));
}

Result<Seq> SeqOf(uint64_t number, const std::vector<Seq>& events, const Imported& imported) {
  const uint64_t count = events.empty() ? imported.trace.records : events.size();
  if (number < count) return events.empty() ? static_cast<Seq>(number) : events[number];
  const std::string things = events.empty() ? "records" : "events";
  return Error{.message = "--at " + std::to_string(number) + ": it has " + FormatCount(count) +
                          " " + things + ", the first is 0",
               .hint = "write peak or end"};
}

}  // namespace

std::string CheckMoment(const std::string& text) {
  if (text == "peak" || text == "end" || NumberIn(text)) return "";
  return "invalid moment '" + text + "'; write peak, end, or the number of an event";
}

Result<HeldAt> FindHeldAt(const std::string& text, const Imported& imported,
                          const std::string& path) {
  if (text.empty() || text == "end") return HeldAt();
  const MemoryFacts facts(imported.trace);
  const MemoryTimeline& timeline = facts.timeline();
  const std::optional<DeviceIndex> device = BusiestDevice(timeline);
  const std::vector<Seq> events = EventsOf(imported, device.value_or(0));
  HeldAt at{.name = text, .device = device};
  MemoryAt moment;
  if (const auto number = NumberIn(text)) {
    Result<Seq> seq = SeqOf(*number, events, imported);
    if (!seq) {
      seq.error().file = path;
      return seq.error();
    }
    moment = timeline.After(device.value_or(0), *seq);
    at.text = std::string("after ") + (events.empty() ? "record " : "event ") +
              FormatCount(*number) + ", " + FormatBytes(moment.in_use) + ",";
  } else {
    moment = (device ? timeline.Of(*device) : timeline.all()).peak_in_use;
    at.text = "at the peak in use, " + FormatBytes(moment.in_use) + " (" +
              PlaceText(events, moment.seq) + "),";
  }
  at.seq = moment.seq;
  return at;
}

}  // namespace graphkit
