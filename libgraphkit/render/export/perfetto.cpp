#include <variant>

#include "libgraphkit/render/export/export.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

namespace {

// Times of the format are in microseconds.
double Micros(Nanoseconds time) { return static_cast<double>(time) / 1000; }

class TraceEventWriter {
 public:
  TraceEventWriter(const Timeline& timeline, uint32_t rank, std::ostream& out)
      : timeline_(timeline), rank_(rank), out_(out) {}

  void Write() {
    Name("process_name", 0, timeline_.process);
    for (size_t i = 0; i < timeline_.tracks.size(); ++i) {
      Name("thread_name", i + 1, timeline_.tracks[i]);
    }
    for (const TimelineSlice& slice : timeline_.slices) WriteSlice(slice);
    for (const TimelineCounter& counter : timeline_.counters) {
      for (const TimelineSample& sample : counter.samples) {
        Json event = Event("C", 0, sample.time);
        event["name"] = counter.name;
        event["args"] = Json{{"bytes", sample.bytes}};
        Put(event);
      }
    }
  }

 private:
  Json Event(const char* phase, size_t thread, Nanoseconds time) const {
    return Json{{"ph", phase}, {"pid", timeline_.pid}, {"tid", thread}, {"ts", Micros(time)}};
  }

  void Put(const Json& event) {
    out_ << (first_ ? "" : ",\n") << Dump(event);
    first_ = false;
  }

  void Name(const char* what, size_t thread, const std::string& name) {
    Put(Json{{"ph", "M"},
             {"pid", timeline_.pid},
             {"tid", thread},
             {"name", what},
             {"args", Json{{"name", name}}}});
  }

  void WriteSlice(const TimelineSlice& slice) {
    Json event = Event("X", slice.track + size_t{1}, slice.begin);
    event["dur"] = Micros(slice.length);
    event["name"] = slice.name;
    event["cat"] = slice.category;
    Json args = Json::object();
    for (const TimelineArg& arg : slice.args) {
      std::visit([&](const auto& value) { args[std::string(arg.key)] = value; }, arg.value);
    }
    event["args"] = std::move(args);
    Put(event);
    for (const EdgeId edge : slice.out) WriteFlow("s", edge, slice);
    for (const EdgeId edge : slice.in) WriteFlow("f", edge, slice);
  }

  void WriteFlow(const char* phase, EdgeId edge, const TimelineSlice& slice) {
    Json event = Event(phase, slice.track + size_t{1}, slice.begin);
    event["id"] = (rank_ << 32) + edge.value;
    event["name"] = "edge";
    event["cat"] = "edge";
    if (*phase == 'f') event["bp"] = "e";  // binds to the slice around it
    Put(event);
  }

  const Timeline& timeline_;
  uint64_t rank_ = 0;
  std::ostream& out_;
  bool first_ = true;
};

}  // namespace

void RenderPerfettoEvents(const Timeline& timeline, uint32_t rank, std::ostream& out) {
  TraceEventWriter(timeline, rank, out).Write();
}

void RenderPerfetto(const Timeline& timeline, std::ostream& out) {
  out << kPerfettoBegin;
  RenderPerfettoEvents(timeline, 0, out);
  out << kPerfettoEnd;
}

}  // namespace graphkit
