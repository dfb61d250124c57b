#include "libgraphkit/io/trace/trace_assembler.h"

#include <limits>

#include "libgraphkit/io/record/record_types.h"
#include "libgraphkit/io/trace/trace_file.h"
#include "libgraphkit/large_pages.h"
#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

// "no graphs were", "only 1 graph was", "only 3 graphs were".
std::string OnlySome(size_t count, std::string_view what) {
  if (count == 0) return "no " + std::string(what) + " were";
  if (count == 1) return "only 1 " + std::string(what.substr(0, what.size() - 1)) + " was";
  return "only " + std::to_string(count) + " " + std::string(what) + " were";
}

bool Fits(const auto& column, size_t more) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  return column.size() <= kMost && more <= kMost - column.size();
}

template <typename T>
void ChangeRow(std::vector<T>& column, size_t at, auto change) {
  change(column[at]);
}
template <typename Row>
void ChangeRow(SharedColumn<Row>& column, size_t at, auto change) {
  column.Change(at, change);
}

}  // namespace

// Checks what a record refers to, and takes its texts and lists into the trace.
class FieldTaker : public EachField<FieldTaker> {
 public:
  FieldTaker(TraceAssembler& to, const LooseValues& values) : to_(to), values_(values) {}

  bool ok() const { return ok_; }

  // "id" is the one that the record defines.
  template <typename Tag>
  [[gnu::always_inline]] void Field(std::string_view key, Id<Tag> id) {
    constexpr auto kThings = ThingsOf(Id<Tag>());
    const size_t count = (to_.trace_.*kThings.column).size();
    if (!ok_) return;
    if (key == "id") {
      ok_ = id.value == count || to_.FailNext(id.value, count, kThings.name);
    } else {
      ok_ = !id || id.value < count || to_.FailReference(key, id.value, count, kThings.name);
    }
  }
  void Field(std::string_view, StringId& text) { text = to_.Intern(values_[text]); }
  template <typename Column>
  void Field(std::string_view key, Listed<Column> list) {
    Column& column = to_.trace_.*list.column;
    const auto entries = values_.Of(list.value, list.column);
    list.value = {};
    if (entries.empty() || !ok_) return;
    if (!Fits(column, entries.size())) {
      ok_ = to_.Fail("is one too many: a trace holds 2^32-1 entries of its kind");
      return;
    }
    list.value = {static_cast<uint32_t>(column.size()), static_cast<uint32_t>(entries.size())};
    for (auto entry : entries) {
      Take(key, entry);
      column.push_back(entry);
    }
  }
  template <typename T>
  void Field(std::string_view, T&&) {}

 private:
  void Take(std::string_view, KernelParam&) {}
  void Take(std::string_view, StackFrame& frame) {
    Field("function", frame.function);
    Field("file", frame.file);
  }
  void Take(std::string_view, FrontierEntry& entry) { Field("node", entry.node); }
  void Take(std::string_view, Access& access) { Field("access to block", access.block); }
  void Take(std::string_view, Collective& collective) {
    Field("communicator", collective.communicator);
    collective.seq = to_.place();
  }
  void Take(std::string_view, HostEnd& end) { end.seq = to_.place(); }
  void Take(std::string_view key, NodeLabel& label) {
    Field(key, label.text);
    label.seq = to_.place();
  }
  void Take(std::string_view, Scalar& scalar) { scalar.seq = to_.place(); }
  void Take(std::string_view key, ToolIdRun& run) {
    Field(key, run.first);
    const size_t nodes = to_.trace_.nodes.size();
    if (!ok_ || (run.count != 0 && run.count <= nodes - run.first.index())) return;
    ok_ = to_.Fail("names " + std::to_string(run.count) + " nodes from node " +
                   std::to_string(run.first.value) + " on, but only " + std::to_string(nodes) +
                   " nodes were declared");
  }

  TraceAssembler& to_;
  const LooseValues& values_;
  bool ok_ = true;
};

template <typename Record>
bool TraceAssembler::Apply(Record& r, const LooseValues& values) {
  FieldTaker taker(*this, values);
  r.Fields(taker);
  if (!taker.ok()) return false;
  if constexpr (requires { r.row.source; }) r.row.source = r.source;
  if constexpr (std::is_same_v<Record, NodeRecord>) {
    if (r.row.kind == NodeKind::kKernel) r.row.shape = InternShape(r.shape);
  }
  if constexpr (requires { r.row; }) {
    r.row.*Record::kPlace = place();
    (trace_.*Record::kColumn).push_back(r.row);
  }
  if constexpr (requires { r.ended; }) {
    ChangeRow(trace_.*Record::kColumn, r.ended.index(), [&](auto& row) {
      if (row.*Record::kPlace == kNever) row.*Record::kPlace = place();
    });
  }
  return Settle(r);
}

template <typename Record>
struct Adds {
  static bool Add(TraceAssembler& to, void* record, const LooseValues& values) {
    auto& r = *static_cast<Record*>(record);
    if constexpr (std::is_same_v<Record, EndRecord>) return to.End(r);
    if (!to.Apply(r, values)) return false;
    if (r.time != 0) to.SetTime(r.time);
    ++to.trace_.records;
    return true;
  }
  static constexpr auto value = &Add;
};

bool TraceAssembler::Add(size_t type, void* record, const LooseValues& values) {
  static constexpr auto kAdds = RecordTable<Adds>(RecordTypes());
  const bool is_end = type == kRecordIndex<EndRecord>;
  if (ended_ && !is_end) return Fail("comes after the end record");
  if (trace_.records == kNever - 1 && !is_end) {
    return Fail("is one too many: a trace holds 2^32-2 records");
  }
  return kAdds[type](*this, record, values);
}

bool TraceAssembler::AddUnknown() {
  BlankRecord blank;
  return Add(kRecordIndex<BlankRecord>, &blank, LooseValues());
}

bool TraceAssembler::Fail(std::string message, std::string hint) {
  problem_ = {std::move(message), std::move(hint)};
  return false;
}

bool TraceAssembler::FailNext(uint32_t id, size_t count, std::string_view what) {
  return Fail("has id " + std::to_string(id) + ", but the next of the " + std::string(what) +
                  " is " + std::to_string(count),
              "ids count from 0 in order of appearance");
}

bool TraceAssembler::FailReference(std::string_view key, uint32_t id, size_t count,
                                   std::string_view what) {
  return Fail("has " + std::string(key) + " " + std::to_string(id) + ", but " +
                  OnlySome(count, what) + " declared before it",
              "the file is damaged, or what wrote it is wrong");
}

StringId TraceAssembler::Intern(std::string_view text) {
  return text.empty() ? StringId() : trace_.strings.Intern(text);
}

void TraceAssembler::SetTime(Nanoseconds time) {
  trace_.times.resize(size_t{place()} + 1);
  trace_.times.back() = time;
}

bool TraceAssembler::End(const EndRecord& r) {
  const auto check = [&](const char* key, uint64_t counted, uint64_t read) {
    if (counted == kNotCounted || counted == read) return true;
    return Fail(std::string("counts ") + std::to_string(counted) + " " + key + ", but " +
                    std::to_string(read) + " were read",
                "lines were lost or added after the file was written");
  };
  ended_ = check("records", r.records, trace_.records) &&
           check("graphs", r.graphs, trace_.graphs.size()) &&
           check("nodes", r.nodes, trace_.nodes.size()) &&
           check("edges", r.edges, trace_.edges.size()) &&
           check("blocks", r.blocks, trace_.blocks.size()) &&
           check("launches", r.launches, trace_.launches.size());
  return ended_;
}

void TraceAssembler::MakeRoom(double times) {
  constexpr size_t kFew = 1024;
  constexpr double kSpare = 1.02;
  const auto grow = [&](auto& column) {
    const auto expected = static_cast<size_t>(static_cast<double>(column.size()) * times * kSpare);
    if (column.size() < kFew || expected <= column.capacity()) return;
    column.reserve(expected);
    const size_t used = column.size() * sizeof(column[0]);
    WishForLargePages(reinterpret_cast<std::byte*>(column.data()) + used,
                      column.capacity() * sizeof(column[0]) - used);
  };
  const auto grow_all = [&](auto&... columns) { (grow(columns), ...); };
  grow_all(trace_.nodes.rows(), trace_.edges.rows(), trace_.accesses.rows(), trace_.blocks.rows(),
           trace_.block_streams, trace_.stream_ops.rows(), trace_.frontier_entries,
           trace_.tool_id_runs, trace_.launches, trace_.works, trace_.times);
}

bool TraceAssembler::Finish() {
  trace_.completeness.truncated = !ended_;
  if (const std::optional<BadMemory> bad = FindBadMemory(trace_)) {
    Fail(bad->message, "the file is damaged, or what wrote it is wrong");
    problem_.place = bad->place;
    return false;
  }
  if (!ended_ || expected_graphs_.empty()) {
    ApplyNodeChanges(&trace_);
    return true;
  }
  const auto& [graph, expected] = *expected_graphs_.begin();
  Fail("node " + std::to_string(expected.parent.value) + " holds graph " +
           std::to_string(graph.value) + ", but " + OnlySome(trace_.graphs.size(), "graphs") +
           " in the file",
       "the file is damaged, or what wrote it is wrong");
  problem_.place = expected.place;
  return false;
}

}  // namespace graphkit
