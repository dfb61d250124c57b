#include "libgraphkit/io/trace/record_rows.h"

namespace graphkit {

// Collects what stands where.
class Places {
 public:
  explicit Places(const Trace& trace) : records(trace.records) {}

  // Puts a record of the current row at `place`; kNever: it isn't in the trace.
  void Put(Seq place, size_t index) {
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

  const RecordRow* row = nullptr;
  std::vector<PlacedRecord> records;
  std::optional<Error> error;
};

struct RecordRow {
  void (*put)(const Trace& trace, Places& places);
  void (*print)(PlacePrinter& to, uint32_t index);
};

namespace {

// Fills in a record's fields beside its row, or instead of one.
void Complete(const PlacePrinter&, RecordBase&, uint32_t) {}

void Complete(const PlacePrinter& from, GraphRecord& r, uint32_t) {
  // A node that follows names the graph itself.
  if (r.row.parent && from.trace()[r.row.parent].seq < r.row.created) return;
  r.row.parent = {};
  r.row.body = 0;
}

// Where the rows of a place lie in their column.
template <typename Row>
Slice SliceAt(const std::vector<Row>& column, Seq place) {
  const std::span<const Row> rows = RowsAt(column, place);
  return {static_cast<uint32_t>(rows.data() - column.data()), static_cast<uint32_t>(rows.size())};
}

void Complete(const PlacePrinter& from, NodeRecord& r, uint32_t) {
  const std::span<const GraphId> held = from.HeldGraphs(r.id);
  if (r.row.kind == NodeKind::kChildGraph && !held.empty()) r.child = held[0];
  if (r.row.kind == NodeKind::kConditional) {
    r.bodies = held;
  } else {
    r.row.conditional = ConditionalType::kUnknown;
  }
}

void Complete(const PlacePrinter& from, CaptureEndRecord& r, uint32_t index) {
  const Capture& capture = from.trace().captures[index];
  r.capture = CaptureId(index);
  r.error = capture.error;
  r.failure = capture.failure;
}

void Complete(const PlacePrinter& from, NvtxPopRecord& r, uint32_t index) {
  r.thread = from.trace().nvtx_ranges[index].thread;
  r.domain = from.trace().nvtx_ranges[index].domain;
}

template <TypeName kName, auto Place>
void Complete(const PlacePrinter& from, AnyFreeRecord<kName, Place>& r, uint32_t index) {
  r.memory = BlockId(index);
  if (Place == &Block::free_completed) return;
  r.stream = from.trace().blocks[index].free_stream;
  r.stack = from.trace().blocks[index].free_stack;
}

void Complete(const PlacePrinter& from, ProcessRecord& r, uint32_t) {
  r.process = from.trace().process;
}

void Complete(const PlacePrinter& from, NoteRecord& r, uint32_t index) {
  r.text = from.trace().completeness.notes[index];
  r.stopped = from.trace().completeness.stopped;
}

void Complete(const PlacePrinter& from, DroppedRecord& r, uint32_t) {
  r.records = from.trace().completeness.dropped_records;
}

// True when the record at the place of the row is of this type.
template <typename Record>
bool Says(const Trace& trace, const auto& row) {
  if constexpr (std::is_same_v<decltype(row), const Block&>) {
    // The record of a memory-free node frees its block.
    const bool by_node = row.free_node && trace[row.free_node].seq == row.free_requested;
    if (by_node && Record::kPlace == &Block::free_requested) return false;
  }
  if constexpr (requires { Record::Says(row); }) return Record::Says(row);
  return true;
}

template <typename Record>
struct Row {
  static void Put(const Trace& trace, Places& places) {
    if constexpr (requires { Record::kColumn; }) {
      const auto& column = trace.*Record::kColumn;
      for (size_t i = 0; i < column.size(); ++i) {
        if (Says<Record>(trace, column[i])) places.Put(column[i].*Record::kPlace, i);
      }
    }
  }

  static void Print(PlacePrinter& to, uint32_t index) {
    Record r;
    if constexpr (requires { r.row; }) r.row = (to.trace().*Record::kColumn)[index];
    if constexpr (requires { r.row.source; }) r.source = r.row.source;
    if constexpr (requires { r.id; }) r.id = decltype(r.id)(index);
    if constexpr (requires { r.ended; }) r.ended = decltype(r.ended)(index);
    Complete(to, r, index);
    const Trace& trace = to.trace();
    if constexpr (requires { r.shape; }) {
      if (r.row.shape < trace.shapes.size()) r.shape = trace.shapes[r.row.shape];
    }
    // Lists of what stands at the row's place.
    const auto take = [&](Slice& list, const auto& column) { list = SliceAt(column, to.place); };
    if constexpr (requires { r.collectives; }) take(r.collectives, trace.collectives);
    if constexpr (requires { r.host_ends; }) take(r.host_ends, trace.host_ends);
    if constexpr (requires { r.labels; }) take(r.labels, trace.node_labels);
    if constexpr (requires { r.scalars; }) take(r.scalars, trace.scalars);
    to.Give(r);
  }

  static constexpr RecordRow value = {Put, Print};
};

constexpr auto kRows = RecordTable<Row>(RecordTypes());
template <typename Record>
constexpr const RecordRow* kRowOf = &kRows[kRecordIndex<Record>];

void PutProcess(const Process& process, Places& places) {
  Process nothing;
  nothing.device = process.device;
  nothing.seq = process.seq;
  places.row = kRowOf<ProcessRecord>;
  if (!(process == nothing)) places.Put(process.seq, 0);
}

}  // namespace

PlacePrinter::PlacePrinter(const Trace& trace, std::string* out, RecordMover* mover)
    : values_{trace}, out_(out), mover_(mover) {
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (trace.graphs[i].parent) held_graphs_[trace.graphs[i].parent].push_back(GraphId(i));
  }
  for (auto& [node, graphs] : held_graphs_) {
    std::ranges::stable_sort(graphs, {}, [&](GraphId id) { return trace[id].body; });
  }
}

void PlacePrinter::Print(const PlacedRecord& placed) {
  (placed.row != nullptr ? placed.row : kRowOf<BlankRecord>)->print(*this, placed.index);
}

std::span<const GraphId> PlacePrinter::HeldGraphs(NodeId node) const {
  const auto found = held_graphs_.find(node);
  if (found == held_graphs_.end()) return {};
  size_t count = 0;
  for (const GraphId graph : found->second) {
    if (trace()[graph].body != count) break;
    ++count;
  }
  return std::span(found->second).first(count);
}

Result<std::vector<PlacedRecord>> PlaceRecords(const Trace& trace) {
  Places places(trace);
  PutProcess(trace.process, places);
  for (const RecordRow& row : kRows) {
    places.row = &row;
    row.put(trace, places);
  }
  if (places.error) return *places.error;
  auto free = places.records.begin();
  const auto put_free = [&](const RecordRow* row, uint32_t index) {
    free = std::ranges::find(free, places.records.end(), nullptr, &PlacedRecord::row);
    if (free == places.records.end()) free = places.records.insert(free, PlacedRecord());
    *free = {row, index};
  };
  const Completeness& completeness = trace.completeness;
  for (uint32_t i = 0; i < completeness.notes.size(); ++i) put_free(kRowOf<NoteRecord>, i);
  if (completeness.dropped_records != 0) put_free(kRowOf<DroppedRecord>, 0);
  return std::move(places.records);
}

}  // namespace graphkit
