#include "libgraphkit/io/trace/trace_assembler.h"

#include <limits>

#include "libgraphkit/io/record/record_types.h"
#include "libgraphkit/io/trace/bad_memory.h"
#include "libgraphkit/large_pages.h"
#include "libgraphkit/model/access_map.h"

namespace graphkit {
namespace {

constexpr const char* kDamaged = "the file is damaged, or what wrote it is wrong";

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
class TraceAssembler::Adder : public EachField<Adder> {
 public:
  Adder(TraceAssembler& to, const LooseValues& values)
      : to_(to), trace_(to.trace_), values_(values) {}

  // Rows of a table by type of record.
  template <typename Record>
  struct Of {
    static bool Add(TraceAssembler& to, void* record, const LooseValues& values) {
      return Adder(to, values).Add(*static_cast<Record*>(record));
    }
    static constexpr auto value = &Add;
  };

 private:
  friend EachField<Adder>;

  template <typename Record>
  bool Add(Record& r) {
    r.Fields(*this);
    if (!ok_) return false;
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
    if (!Settle(r)) return false;
    if (r.time != 0) {
      trace_.times.resize(size_t{place()} + 1);
      trace_.times.back() = r.time;
    }
    ++trace_.records;
    return true;
  }
  bool Add(EndRecord& r) {
    bool right = true;
    const auto check = [&](std::string_view key, uint64_t counted, uint64_t read) {
      if (!right || counted == kNotCounted || counted == read) return;
      right = Fail("counts " + std::to_string(counted) + " " + std::string(key) + ", but " +
                       std::to_string(read) + " were read",
                   "lines were lost or added after the file was written");
    };
    check("records", r.records, trace_.records);
    r.counts.VisitWith(EndCounts(trace_), check);
    return to_.ended_ = right;
  }

  // "id" is the one that the record defines.
  template <typename Tag>
  [[gnu::always_inline]] void Field(std::string_view key, Id<Tag> id) {
    constexpr auto kThings = ThingsOf(Id<Tag>());
    const size_t count = (trace_.*kThings.column).size();
    if (!ok_) return;
    if (key == "id") {
      ok_ = id.value == count || FailNext(id.value, count, kThings.name);
    } else {
      ok_ = !id || id.value < count || FailReference(key, id.value, count, kThings.name);
    }
  }
  void Field(std::string_view, StringId& text) { text = Intern(values_[text]); }
  template <typename Column>
  void Field(std::string_view key, Listed<Column> list) {
    Column& column = trace_.*list.column;
    const auto entries = values_.Of(list.value, list.column);
    list.value = {};
    if (entries.empty() || !ok_) return;
    if (!Fits(column, entries.size())) {
      ok_ = Fail("is one too many: a trace holds 2^32-1 entries of its kind");
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
    collective.seq = place();
  }
  void Take(std::string_view, HostEnd& end) { end.seq = place(); }
  void Take(std::string_view key, NodeLabel& label) {
    Field(key, label.text);
    label.seq = place();
  }
  void Take(std::string_view, Scalar& scalar) { scalar.seq = place(); }
  void Take(std::string_view key, ToolIdRun& run) {
    Field(key, run.first);
    const size_t nodes = trace_.nodes.size();
    if (!ok_ || (run.count != 0 && run.count <= nodes - run.first.index())) return;
    ok_ = Fail("names " + std::to_string(run.count) + " nodes from node " +
               std::to_string(run.first.value) + " on, but only " + std::to_string(nodes) +
               " nodes were declared");
  }

  bool Fail(std::string message, std::string hint = {}) {
    return to_.Fail(std::move(message), std::move(hint));
  }
  bool FailNext(uint32_t id, size_t count, std::string_view what) {
    return Fail("has id " + std::to_string(id) + ", but the next of the " + std::string(what) +
                    " is " + std::to_string(count),
                "ids count from 0 in order of appearance");
  }
  bool FailReference(std::string_view key, uint32_t id, size_t count, std::string_view what) {
    return Fail("has " + std::string(key) + " " + std::to_string(id) + ", but " +
                    OnlySome(count, what) + " declared before it",
                kDamaged);
  }
  Seq place() const { return trace_.records; }
  StringId Intern(std::string_view text) {
    return text.empty() ? StringId() : trace_.strings.Intern(text);
  }

  // Applies a record's fields beside its row, which stands last in its column.
  bool Settle(const RecordBase&) { return true; }

  bool Settle(const ProcessRecord& r) {
    Process& process = trace_.process;
    const bool first = process.pid == 0 && process.program.empty();
    if (first) process.seq = place();
    ProcessRecord known;
    known.process = std::move(process);
    process = std::move(FieldCopier<ProcessRecord, true>(r, std::move(known)).to.process);
    return true;
  }

  bool Settle(const DroppedRecord& r) {
    trace_.completeness.dropped_records += r.records;
    return true;
  }

  bool Settle(const NoteRecord& r) {
    trace_.completeness.notes.push_back(r.text);
    trace_.completeness.stopped |= r.stopped;
    return true;
  }

  bool Settle(const HistoryEventsRecord& r) {
    uint64_t last = r.row.first;
    for (const char digit : trace_[r.row.steps]) {
      const std::optional<Seq> step = StepOf(digit);
      if (!step) return Fail("has a bad \"steps\": it should be digits in base 36");
      last += *step;
    }
    return last < place() || Fail("names place " + std::to_string(last) + ", which comes later");
  }

  bool Settle(const NvtxPushRecord& r) {
    to_.open_ranges_[{r.row.thread, r.row.domain}].push_back(
        static_cast<uint32_t>(trace_.nvtx_ranges.size() - 1));
    return true;
  }

  // A pop without a push closes a range that was opened before the trace began.
  bool Settle(const NvtxPopRecord& r) {
    std::vector<uint32_t>& open = to_.open_ranges_[{r.thread, r.domain}];
    if (open.empty()) return true;
    trace_.nvtx_ranges[open.back()].end = place();
    open.pop_back();
    return true;
  }

  bool Settle(const CaptureEndRecord& r) {
    const Capture nothing;
    if (r.failure != nothing.failure && r.failure >= trace_.failures.size()) {
      return FailReference("failure", r.failure, trace_.failures.size(), "failures");
    }
    Capture& capture = trace_.captures[r.capture.index()];
    if (capture.end != kNever) {
      return Fail("ends capture " + std::to_string(r.capture.value) + " a second time");
    }
    const bool completed = r.error == 0 && r.failure == nothing.failure;
    capture.status = completed ? CaptureStatus::kCompleted : CaptureStatus::kInvalidated;
    capture.error = r.error;
    capture.failure = r.failure;
    capture.end = place();
    return true;
  }

  // Graph memory may be freed once per launch: the first free is the one that the model keeps.
  template <TypeName kName, auto Place>
  bool RequestFree(const AnyFreeRecord<kName, Place>& r, Block* block) {
    if (block->freed()) return false;
    block->free_requested = place();
    block->free_stream = r.stream;
    block->free_stack = r.stack;
    return true;
  }

  bool Settle(const FreeRecord& r) {
    trace_.blocks.Change(r.memory.index(), [&](Block& block) {
      if (RequestFree(r, &block)) block.free_completed = place();
    });
    return true;
  }

  bool Settle(const FreeRequestedRecord& r) {
    trace_.blocks.Change(r.memory.index(), [&](Block& block) { RequestFree(r, &block); });
    return true;
  }

  bool Settle(const FreeCompletedRecord& r) {
    trace_.blocks.Change(r.memory.index(), [&](Block& block) {
      RequestFree(r, &block);
      if (block.free_completed == kNever) block.free_completed = place();
    });
    return true;
  }

  // Makes `graph` the child of `parent`, or the body `body` of it. Both the graph and the node may
  // say so; they must agree.
  bool Adopt(GraphId id, NodeId parent, uint32_t body) {
    Graph& graph = trace_.graphs[id.index()];
    if (graph.parent && (graph.parent != parent || graph.body != body)) {
      return Fail("puts graph " + std::to_string(id.value) + " into node " +
                      std::to_string(parent.value) + ", but it is in node " +
                      std::to_string(graph.parent.value),
                  kDamaged);
    }
    graph.parent = parent;
    graph.body = body;
    return true;
  }

  bool Settle(const GraphRecord& r) {
    const auto expected = to_.expected_graphs_.find(r.id);
    if (expected == to_.expected_graphs_.end()) return true;
    const Expected holder = expected->second;
    to_.expected_graphs_.erase(expected);
    return Adopt(r.id, holder.parent, holder.body);
  }

  uint32_t InternShape(const LaunchShape& shape) {
    if (to_.last_shape_ < trace_.shapes.size() && trace_.shapes[to_.last_shape_] == shape) {
      return to_.last_shape_;
    }
    const auto next = static_cast<uint32_t>(trace_.shapes.size());
    const auto [found, inserted] = to_.shapes_.emplace(shape, next);
    if (inserted) trace_.shapes.push_back(shape);
    return to_.last_shape_ = found->second;
  }

  bool LinkBodies(const NodeRecord& r) {
    const auto link = [&](GraphId graph, uint32_t body) {
      if (graph.index() < trace_.graphs.size()) return Adopt(graph, r.id, body);
      const auto [other, inserted] =
          to_.expected_graphs_.emplace(graph, Expected{r.id, body, place()});
      if (inserted) return true;
      return Fail("holds graph " + std::to_string(graph.value) + ", but so does node " +
                  std::to_string(other->second.parent.value));
    };
    if (r.child && !link(r.child, 0)) return false;
    for (size_t i = 0; i < r.bodies.size(); ++i) {
      if (!link(r.bodies[i], static_cast<uint32_t>(i))) return false;
    }
    return true;
  }

  // Memory nodes: the block knows the node that allocated it, and the first that frees it.
  void TakeBlock(const NodeRecord& r) {
    if (!r.row.block) return;
    trace_.blocks.Change(r.row.block.index(), [&](Block& block) {
      if (r.row.kind == NodeKind::kMemAlloc && !block.alloc_node) block.alloc_node = r.id;
      if (r.row.kind != NodeKind::kMemFree || block.freed()) return;
      block.free_node = r.id;
      block.free_stream = r.row.stream;
      block.free_stack = r.row.stack;
      block.free_requested = block.free_completed = place();
    });
  }

  bool Settle(const CommunicatorRecord& r) {
    if (r.row.rank < r.row.ranks) return true;
    return Fail("has rank " + std::to_string(r.row.rank) + " of " + std::to_string(r.row.ranks) +
                " ranks");
  }

  bool Settle(const NodeRecord& r) {
    TakeBlock(r);
    return LinkBodies(r);
  }

  bool Settle(const NodeSetRecord& r) {
    const bool kernel = trace_[r.row.node].kind == NodeKind::kKernel;
    if (kernel && r.row.what == NodeChangeKind::kParams) {
      trace_.node_changes.back().shape = InternShape(r.shape);
    }
    return true;
  }

  bool Settle(const WorkRecord& r) {
    if (r.row.kind == NodeKind::kKernel) trace_.works.back().shape = InternShape(r.shape);
    return true;
  }

  bool Settle(const EdgeRecord& r) {
    const GraphId graph = trace_[r.row.from].graph, other = trace_[r.row.to].graph;
    if (graph == other) return true;
    return Fail("goes from graph " + std::to_string(graph.value) + " to graph " +
                    std::to_string(other.value),
                "an edge stays in one graph");
  }

  TraceAssembler& to_;
  Trace& trace_;
  const LooseValues& values_;
  bool ok_ = true;
};

bool TraceAssembler::Add(size_t type, void* record, const LooseValues& values) {
  static constexpr auto kAdds = RecordTable<Adder::Of>(RecordTypes());
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
    Fail(bad->message, kDamaged);
    problem_.place = bad->place;
    return false;
  }
  if (!ended_ || expected_graphs_.empty()) {
    MapAccesses(&trace_);
    return true;
  }
  const auto& [graph, expected] = *expected_graphs_.begin();
  Fail("node " + std::to_string(expected.parent.value) + " holds graph " +
           std::to_string(graph.value) + ", but " + OnlySome(trace_.graphs.size(), "graphs") +
           " in the file",
       kDamaged);
  problem_.place = expected.place;
  return false;
}

}  // namespace graphkit
