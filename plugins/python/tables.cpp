#include "tables.h"

#include "libgraphkit/io/record/record_graph.h"
#include "libgraphkit/io/record/record_memory.h"

namespace graphkit {
namespace {

int64_t Place(Seq seq) { return seq == kNever ? -1 : static_cast<int64_t>(seq); }

// One row: the numbers of a record's fields, and what is added to them. Texts and lists are none.
class NumberRow : public EachField<NumberRow> {
 public:
  NumberTable* naming = nullptr;  // takes the names of the columns
  std::vector<int64_t> values;

  void Add(std::string_view name, int64_t value, std::string_view type = "i8") {
    if (naming) naming->columns.push_back(std::string(name) + ":" + std::string(type));
    values.push_back(value);
  }

  template <typename T>
  void Field(std::string_view key, T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      Add(key == "edge_type" ? "type" : key, static_cast<int64_t>(value));
    }
    if constexpr (requires { Names<T>::value; }) {
      const auto& words = Names<T>::value;
      if (naming) naming->words.push_back({std::string(key), {words.begin(), words.end()}});
    }
  }
  template <typename Tag>
  void Field(std::string_view key, Id<Tag>& id) {
    Add(key == "memory" ? "block" : key, id ? static_cast<int64_t>(id.value) : -1);
  }
  template <typename T>
  void Field(std::string_view key, Hex<T>& hex) {
    Add(key, static_cast<int64_t>(hex.value), "u8");
  }
  void Field(std::string_view key, TwoWords& value) {
    Add(key, static_cast<int64_t>(uint64_t{value}));
  }
  void Field(std::string_view, StringId&) {}
};

// When a record was written, in nanoseconds since 1970; 0: unknown.
int64_t TimeOf(const Ran& trace, Seq seq) {
  if (seq >= trace.times.size() || trace.times[seq] == 0) return 0;
  const ClockPair clock = trace.clocks.empty() ? ClockPair() : trace.clocks[0];
  return static_cast<int64_t>(trace.times[seq] - clock.monotonic) + clock.wall;
}

// Columns of a table beside the fields of its things' records: where they begin and end, mostly.
void AddOthers(const Ran&, const Graph& graph, NumberRow& row) {
  row.Add("created", Place(graph.created));
  row.Add("destroyed", Place(graph.destroyed));
}
void AddOthers(const Ran&, const Node& node, NumberRow& row) {
  row.Add("seq", Place(node.seq));
  row.Add("destroyed", Place(node.destroyed));
}
void AddOthers(const Ran&, const Edge& edge, NumberRow& row) {
  row.Add("seq", Place(edge.seq));
  row.Add("removed", Place(edge.removed));
}
void AddOthers(const Ran&, const Segment& segment, NumberRow& row) {
  row.Add("allocated", Place(segment.allocated));
  row.Add("freed", Place(segment.freed));
}
void AddOthers(const Ran&, const Pool& pool, NumberRow& row) {
  row.Add("created", Place(pool.created));
  row.Add("destroyed", Place(pool.destroyed));
}
void AddOthers(const Ran&, const Exec& exec, NumberRow& row) {
  row.Add("created", Place(exec.created));
  row.Add("destroyed", Place(exec.destroyed));
}
void AddOthers(const Ran&, const Launch& launch, NumberRow& row) {
  row.Add("seq", Place(launch.seq));
}
void AddOthers(const Ran& trace, const Block& block, NumberRow& row) {
  StackId free_stack = block.free_stack;
  row.Field("free_stack", free_stack);
  row.Add("allocated", Place(block.allocated));
  row.Add("free_requested", Place(block.free_requested));
  row.Add("free_completed", Place(block.free_completed));
  row.Add("allocated_ns", TimeOf(trace, block.allocated));
  row.Add("free_requested_ns", TimeOf(trace, block.free_requested));
  row.Add("free_completed_ns", TimeOf(trace, block.free_completed));
}

void Append(const NumberRow& row, NumberTable& table) {
  table.rows.append(reinterpret_cast<const char*>(row.values.data()),
                    row.values.size() * sizeof(int64_t));
}

template <typename Record>
void Fill(const Ran& trace, Record& record, NumberRow& row) {
  row.values.clear();
  record.Fields(row);
  AddOthers(trace, record.row, row);
}

template <typename Record>
NumberTable Make(const Ran& trace) {
  NumberTable table;
  NumberRow row;
  row.naming = &table;
  Record record;
  Fill(trace, record, row);
  row.naming = nullptr;
  const auto& column = trace.*Record::kColumn;
  for (size_t i = 0; i < column.size(); ++i) {
    record.row = column[i];
    if constexpr (requires { record.id; }) record.id = decltype(record.id)(i);
    if constexpr (requires { record.shape; }) {
      const bool known = record.row.shape < trace.shapes.size();
      record.shape = known ? trace.shapes[record.row.shape] : LaunchShape();
    }
    Fill(trace, record, row);
    Append(row, table);
  }
  return table;
}

void FillAccess(size_t node, const Access& access, NumberRow& row) {
  const bool known = access.length != kLengthUnknown;
  row.values.clear();
  row.Add("node", static_cast<int64_t>(node));
  row.Add("block", access.block ? static_cast<int64_t>(access.block.value) : -1);
  row.Add("mode", static_cast<int64_t>(access.mode));
  row.Add("offset", static_cast<int64_t>(access.offset));
  row.Add("length", known ? static_cast<int64_t>(access.length) : -1);
  row.Add("width", access.rows.width);
  row.Add("pitch", access.rows.pitch);
  row.Add("height", access.rows.height);
  row.Add("layer", access.rows.layer);
}

NumberTable Accesses(const Ran& trace) {
  NumberTable table;
  NumberRow row;
  row.naming = &table;
  FillAccess(0, {}, row);
  row.naming = nullptr;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    for (const Access& access : trace.accesses.Of(trace.nodes[i].accesses)) {
      FillAccess(i, access, row);
      Append(row, table);
    }
  }
  return table;
}

struct NamedTable {
  std::string_view name;
  NumberTable (*make)(const Ran& trace);
};

constexpr NamedTable kTables[] = {
    {"graphs", Make<GraphRecord>}, {"nodes", Make<NodeRecord>},   {"edges", Make<EdgeRecord>},
    {"accesses", Accesses},        {"blocks", Make<AllocRecord>}, {"segments", Make<SegmentRecord>},
    {"pools", Make<PoolRecord>},   {"execs", Make<ExecRecord>},   {"launches", Make<LaunchRecord>},
};

}  // namespace

NumberTable MakeTable(const Ran& trace, std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(trace);
  }
  return {};
}

}  // namespace graphkit
