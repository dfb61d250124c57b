// The file of another tool that a trace was imported from, and the history in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct Trace;

struct ImportedFrom {
  StringId format;   // FileFormat::name: "torch-snapshot"
  StringId file;     // as the user named it; "-": standard input
  StringId summary;  // one line about the file
  Seq seq = 0;
  bool operator==(const ImportedFrom&) const = default;
};

// An allocator's record of its last events, which begins here: blocks that stand earlier were
// allocated before recording began.
struct MemoryHistory {
  uint32_t devices = 0;  // in the file
  Seq seq = 0;
  bool operator==(const MemoryHistory&) const = default;
};

// The places of consecutive events of one device: the first, and for each event a digit in base 36,
// its distance to the event before it (0 for the first). A free is often two events at one place.
//
//     first 12, steps "0103"    events at the places 12, 13, 13, 16
struct HistoryEvents {
  int16_t device = 0;
  Seq first = 0;
  StringId steps;
  Seq seq = 0;
  bool operator==(const HistoryEvents&) const = default;
};

// Null: the trace has no history.
const MemoryHistory* HistoryOf(const Trace& trace);
// Of all devices.
uint64_t CountHistoryEvents(const Trace& trace);
// The place of each event of a device; events count from 0 on each device. None: of all, by device.
std::vector<Seq> PlacesOfEvents(const Trace& trace, std::optional<int16_t> device);
// Appends rows for the events of a device, each of which takes the next place.
void AppendHistoryEvents(Trace* trace, int16_t device, std::span<const Seq> places);
// The distance that a digit stands for; none: it isn't a digit.
std::optional<Seq> StepOf(char digit);

// The name of the format; empty: the trace was recorded.
std::string_view FormatOf(const Trace& trace);

}  // namespace graphkit
