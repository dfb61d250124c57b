#include "libgraphkit/io/record_rows.h"

#include <algorithm>

namespace graphkit {
namespace {

void PrintNote(PlacePrinter& to, uint32_t index) {
  NoteRecord r;
  r.text = to.trace.completeness.notes[index];
  to.Print(r);
}

void PrintDropped(PlacePrinter& to, uint32_t) {
  DroppedRecord r;
  r.records = to.trace.completeness.dropped_records;
  to.Print(r);
}

constexpr RecordRow kNoteRow = {nullptr, PrintNote};
constexpr RecordRow kDroppedRow = {nullptr, PrintDropped};

std::vector<PlacedRecord> Unplaced(const Completeness& completeness) {
  std::vector<PlacedRecord> records;
  for (size_t i = 0; i < completeness.notes.size(); ++i) {
    records.push_back({&kNoteRow, static_cast<uint32_t>(i)});
  }
  if (completeness.dropped_records != 0) records.push_back({&kDroppedRow, 0});
  return records;
}

}  // namespace

void Places::Put(Seq place, size_t index) {
  if (place == kNever || error) return;
  if (place >= records.size()) {
    error = Error{.message = "a record stands at place " + std::to_string(place) +
                             ", but the trace has " + std::to_string(records.size())};
  } else if (records[place].row != nullptr) {
    error = Error{.message = "two records stand at place " + std::to_string(place)};
  } else {
    records[place] = {row, static_cast<uint32_t>(index)};
  }
}

PlacePrinter::PlacePrinter(const Trace& trace, std::string& out) : trace(trace), printer_(out) {
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (trace.graphs[i].parent) held_graphs[trace.graphs[i].parent].push_back(GraphId(i));
  }
  for (auto& [node, graphs] : held_graphs) {
    std::ranges::stable_sort(graphs, {}, [&](GraphId id) { return trace[id].body; });
  }
}

void PrintBlank(PlacePrinter& to) {
  BlankRecord r;
  to.Print(r);
}

Result<std::vector<PlacedRecord>> PlaceRecords(const Trace& trace) {
  Places places(trace);
  for (const auto rows : {ProcessRows(), StreamRows(), GraphRows(), MemoryRows()}) {
    for (const RecordRow& row : rows) {
      places.row = &row;
      row.put(trace, places);
    }
  }
  if (places.error) return *places.error;
  auto free = places.records.begin();
  const auto is_free = [](const PlacedRecord& record) { return record.row == nullptr; };
  for (const PlacedRecord& record : Unplaced(trace.completeness)) {
    free = std::find_if(free, places.records.end(), is_free);
    if (free == places.records.end()) free = places.records.insert(free, PlacedRecord());
    *free = record;
  }
  return std::move(places.records);
}

}  // namespace graphkit
