// Every field of every record survives: what is read is written again, and moved by a merge. The
// fields are found through the records' own lists, so that a new one is tested without another
// line.
#include "libgraphkit/io/record/record_types.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/io/merge/merge.h"
#include "libgraphkit/io/record/field_writer.h"
#include "libgraphkit/io/trace/record_rows.h"
#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

namespace graphkit {
namespace {

constexpr uint32_t kKnown = 2;  // of each kind are declared before the record

// Gives each field a value that isn't its default and that no other number has.
class Filler : public EachField<Filler> {
 public:
  explicit Filler(LooseValues& values) : values_(values) {}
  std::set<std::string> keys;

  void Required(std::string_view key, auto&& value) { Fill(key, value); }
  void Always(std::string_view key, auto&& value) { Fill(key, value); }
  void Optional(std::string_view key, auto&& value) { Fill(key, value); }
  void Optional(std::string_view key, auto& value, const auto&) { Fill(key, value); }
  void Present(std::string_view key, bool& present, auto&& value) {
    present = true;
    Fill(key, value);
  }

 private:
  void Fill(std::string_view key, auto&& value) {
    keys.emplace(key);
    if constexpr (requires { Set(value); }) {
      if (key != "id") return Set(value);
      if constexpr (requires { value.index(); }) value.value = kKnown;
    }
  }
  template <std::integral T>
  void Set(T& value) {
    value = static_cast<T>(7 + ++count_ % 120);
  }
  void Set(bool& value) { value = true; }
  void Set(std::string& value) { value = "text " + std::to_string(++count_); }
  void Set(std::vector<std::string>& value) { value = {"list " + std::to_string(++count_), "b"}; }
  void Set(StringId& value) {
    value = values_.Add(values_.arena.Copy("name " + std::to_string(++count_)));
  }
  template <typename Tag>
  void Set(Id<Tag>& value) {
    value.value = ++count_ % kKnown;
  }
  template <typename T>
  void Set(Hex<T> hex) {
    hex.value = static_cast<T>(0xab00 + ++count_);
  }
  void Set(EdgeType& value) { value = EdgeType::kProgrammatic; }
  template <typename Enum>
  requires requires { Names<Enum>::value; }
  void Set(Enum& value) { value = static_cast<Enum>(Names<Enum>::value.size() - 1); }
  template <typename Words>
  void Set(AsWord<Words> word) {
    word.value = Words::kKinds[Words::value.size() - 1];
  }
  void Set(Extents extents) {
    for (uint32_t& extent : extents.value) Set(extent);
  }
  void Set(Later later) { later.value = GraphId(2u); }
  void Set(std::span<const GraphId>& graphs) {
    graphs = values_.arena.Copy(std::vector<GraphId>{GraphId(3u), GraphId(2u)});
  }
  void Set(TwoWords& value) { value = (uint64_t{5} << 32) + ++count_; }
  void Set(Length length) { Set(length.bytes); }
  void Set(RowParts part) {
    Set(part.rows.width), Set(part.rows.pitch), Set(part.rows.height), Set(part.rows.layer);
  }
  void Set(Half half) { half.number |= uint64_t{100 + ++count_} << half.shift; }
  template <typename Column>
  void Set(Listed<Column> list) {
    auto& entries = values_.Entries(list.column);
    const auto first = static_cast<uint32_t>(entries.size());
    for (int i = 0; i < 2; ++i) {
      auto& entry = entries.emplace_back();
      Parts(entry, [&](auto&&... parts) { return (Set(parts), ..., true); });
      if constexpr (requires { entry.tool_id; }) entry.count = 1;  // of a node that is there
    }
    list.value = {first, 2};
  }

  LooseValues& values_;
  uint32_t count_ = 0;
};

const std::vector<std::string> kBefore = {
    R"({"type":"stream","id":0,"handle":"0x1"})",
    R"({"type":"stream","id":1,"handle":"0x2"})",
    R"({"type":"thread","id":0,"tid":1})",
    R"({"type":"thread","id":1,"tid":2})",
    R"({"type":"event","id":0,"handle":"0x1"})",
    R"({"type":"event","id":1,"handle":"0x2"})",
    R"({"type":"stack","id":0,"frames":[]})",
    R"({"type":"stack","id":1,"frames":[]})",
    R"({"type":"kernel","id":0,"name":"a"})",
    R"({"type":"kernel","id":1,"name":"b"})",
    R"({"type":"communicator","id":0,"ranks":8,"rank":0})",
    R"({"type":"communicator","id":1,"ranks":8,"rank":0})",
    R"({"type":"pool","id":0,"kind":"device"})",
    R"({"type":"pool","id":1,"kind":"device"})",
    R"({"type":"segment","id":0,"address":"0x100000","size":512,"pool":0})",
    R"({"type":"segment","id":1,"address":"0x200000","size":512,"pool":0})",
    R"({"type":"alloc","id":0,"address":"0x100000","size":512,"pool":0})",
    R"({"type":"alloc","id":1,"address":"0x200000","size":512,"pool":0})",
    R"({"type":"graph","id":0,"origin":"explicit"})",
    R"({"type":"graph","id":1,"origin":"explicit"})",
    R"({"type":"capture_begin","id":0,"graph":0,"stream":0,"mode":"global"})",
    R"({"type":"capture_begin","id":1,"graph":1,"stream":1,"mode":"global"})",
    R"({"type":"node","id":0,"graph":0,"kind":"kernel"})",
    R"({"type":"node","id":1,"graph":0,"kind":"kernel"})",
    R"({"type":"edge","id":0,"from":0,"to":1})",
    R"({"type":"edge","id":1,"from":0,"to":1})",
    R"({"type":"exec","id":0,"graph":0,"handle":"0x1"})",
    R"({"type":"exec","id":1,"graph":0,"handle":"0x2"})",
    R"({"type":"failure","call":"a","error":1})",
    R"({"type":"failure","call":"b","error":1})",
};

// A form of a record: what differs from the filled one, so that it says something that can be.
template <typename Record>
struct Form {
  std::function<void(Record&)> change = [](Record&) {};
  std::vector<std::string> before = {};  // lines that it needs
  std::vector<std::string> after = {};
};

template <typename Record>
std::vector<Form<Record>> FormsOf() {
  return {Form<Record>()};
}
template <>
std::vector<Form<CommunicatorRecord>> FormsOf() {
  return {{.change = [](CommunicatorRecord& r) { r.row.ranks = r.row.rank + 5; }}};
}
template <>
std::vector<Form<HistoryEventsRecord>> FormsOf() {
  return {{.change = [](HistoryEventsRecord& r) {
    r.row.first = 12;
    r.row.steps = {};
  }}};
}
template <>
std::vector<Form<EdgeRecord>> FormsOf() {
  return {{.change = [](EdgeRecord& r) { r.row.to = NodeId(1 - r.row.from.value); }}};
}
template <>
std::vector<Form<CaptureEndRecord>> FormsOf() {
  return {{.change = [](CaptureEndRecord& r) { r.failure = 1; }}};
}
template <>
std::vector<Form<NvtxPopRecord>> FormsOf() {
  return {{.change = [](NvtxPopRecord& r) { r.thread = ThreadId(1u); },
           .before = {R"({"type":"nvtx_push","thread":1,"domain":"name 2","name":"n"})"}}};
}
template <>
std::vector<Form<FreeCompletedRecord>> FormsOf() {
  // Its stream and its stack are those of the request.
  return {{.change =
               [](FreeCompletedRecord& r) {
                 r.stream = {};
                 r.stack = {};
               },
           .before = {R"({"type":"free_requested","memory":1})"}}};
}
void ForgetShape(auto& r) {
  r.shape = {};
  r.row.kernel = {};
}
template <>
std::vector<Form<WorkRecord>> FormsOf() {
  return {{.change = [](WorkRecord& r) { r.row.kind = NodeKind::kKernel; }},
          {.change = [](WorkRecord& r) {
            r.row.kind = NodeKind::kMemset;
            ForgetShape(r);
          }}};
}
template <>
std::vector<Form<NodeSetRecord>> FormsOf() {
  return {{.change = [](NodeSetRecord& r) { r.row.what = NodeChangeKind::kParams; }}};
}
template <>
std::vector<Form<NodeRecord>> FormsOf() {
  const auto of_kind = [](NodeKind kind) {
    return [kind](NodeRecord& r) {
      r.row.kind = kind;
      if (kind != NodeKind::kKernel) ForgetShape(r);
      if (kind != NodeKind::kChildGraph) r.child = {};
      if (kind != NodeKind::kConditional) {
        r.bodies = {};
        r.row.conditional = ConditionalType::kUnknown;
      }
    };
  };
  const std::vector<std::string> graphs = {R"({"type":"graph","id":2,"origin":"child"})",
                                           R"({"type":"graph","id":3,"origin":"body"})"};
  return {{of_kind(NodeKind::kKernel)},
          {of_kind(NodeKind::kMemAlloc)},
          {of_kind(NodeKind::kChildGraph), {}, graphs},
          {of_kind(NodeKind::kConditional), {}, graphs}};
}

std::string FileOf(const std::vector<std::string>& records) {
  std::string text = R"({"schema":"graphkit-trace","version":1,"device":"soft","records":[)"
                     "\n";
  for (const std::string& record : records) text += record + ",\n";
  return text + R"({"type":"end","records":)" + std::to_string(records.size()) + "}]}\n";
}

std::string LineOf(const std::string& text, size_t index) {
  size_t begin = 0;
  for (size_t i = 0; i <= index; ++i) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find(",\n", begin) - begin);
}

// The trace as a merge moves its records.
Trace Moved(const Trace& trace) {
  RecordMover mover;
  MovedSource source{.first = true, .shift = 0};
  mover.from = &source;
  for (size_t i = 0; i < trace.graphs.size(); ++i) source.ids.Keep(GraphId(i), GraphId(i));
  PlacePrinter printer(trace, nullptr, &mover);
  const Result<std::vector<PlacedRecord>> records = PlaceRecords(trace);
  REQUIRE(records);
  for (const PlacedRecord& record : *records) {
    printer.Print(record);
    ++printer.place;
  }
  REQUIRE_MESSAGE(!mover.failed(), mover.to.problem().message);
  REQUIRE_MESSAGE(mover.to.Finish(), mover.to.problem().message);
  return mover.to.Take();
}

template <typename Record>
void CheckSurvives() {
  CAPTURE(Record::kType);
  std::set<std::string> all, survived;
  for (const Form<Record>& form : FormsOf<Record>()) {
    LooseValues values;
    Record record;
    Filler filler(values);
    record.Fields(filler);
    record.time = 12345;
    all.insert(filler.keys.begin(), filler.keys.end());
    form.change(record);
    RecordLine to;
    const std::string line(FieldWriter(to, values).Write(record));
    std::vector<std::string> records = kBefore;
    records.insert(records.end(), form.before.begin(), form.before.end());
    const size_t place = records.size();
    records.push_back(line);
    records.insert(records.end(), form.after.begin(), form.after.end());
    const Result<Trace> trace = ParseTrace(FileOf(records), "one record");
    REQUIRE_MESSAGE(trace, Describe(trace.error()) << " in " << line);
    CHECK(LineOf(FormatTrace(*trace).value(), place) == line);
    CHECK(LineOf(FormatTrace(Moved(*trace)).value(), place) == line);
    for (const std::string& key : filler.keys) {
      if (line.find("\"" + key + "\":") != std::string::npos) survived.insert(key);
    }
  }
  if (std::is_same_v<Record, FreeCompletedRecord>) survived.insert({"stream", "stack"});
  std::string lost;
  for (const std::string& key : all) lost += survived.contains(key) ? "" : key + " ";
  CHECK(lost == "");
}

template <typename... Records>
void CheckAllSurvive(RecordList<Records...>) {
  // The end's counts are of the file that is written.
  ((std::is_same_v<Records, EndRecord> ? void() : CheckSurvives<Records>()), ...);
}

TEST_CASE("every field of every record is read, written and moved") {
  CheckAllSurvive(RecordTypes());
}

// "process" may come again: later keys replace earlier ones.
TEST_CASE("the fields of a second process record join the first one's") {
  LooseValues values;
  ProcessRecord record;
  Filler filler(values);
  record.Fields(filler);
  RecordLine to;
  const std::string all(FieldWriter(to, values).Write(record));
  const std::string first = R"({"type":"process","pid":1,"program":"p","args":[]})";
  const Result<Trace> later = ParseTrace(FileOf({first, all}), "two");
  REQUIRE(later);
  CHECK(LineOf(FormatTrace(*later).value(), 0) == all);
  const Result<Trace> earlier = ParseTrace(FileOf({all, first}), "two");
  REQUIRE(earlier);
  record.process.pid = 1;
  record.process.program = "p";
  CHECK(LineOf(FormatTrace(*earlier).value(), 0) == FieldWriter(to, values).Write(record));
}

TEST_CASE("a merge keeps each field of the process") {
  LooseValues values;
  ProcessRecord record;
  Filler filler(values);
  record.Fields(filler);
  std::vector<MergeInput> inputs;
  for (const std::string name : {"trace.json", "profile.json"}) {
    Result<Imported> imported = ImportFile(std::string(GRAPHKIT_TESTDATA) + "/import/" + name);
    REQUIRE_MESSAGE(imported, Describe(imported.error()));
    inputs.push_back({name, std::move(*imported)});
  }
  Process& process = inputs[0].imported.trace.process;
  record.process.device = process.device;
  record.process.seq = process.seq;
  process = record.process;
  Result<Merged> merged = Merge(std::move(inputs));
  REQUIRE_MESSAGE(merged, Describe(merged.error()));
  merged->trace.process.seq = record.process.seq;
  CHECK(merged->trace.process == record.process);
}

}  // namespace
}  // namespace graphkit
