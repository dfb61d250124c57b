// The tracer's file: one a process, and none where there is no room.
#include "plugins/cupti_tracer/calls/trace_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/plugins/cupti_tracer/script.h"

namespace graphkit {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;

  Folder() {
    char name[] = "/tmp/graphkit_trace_file.XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }

  TraceTarget Target(uint64_t max_bytes = 0) const {
    return {.path = path / "trace.json", .max_bytes = max_bytes, .device = "soft"};
  }
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(path / "trace.json").rdbuf();
    return text.str();
  }
  long Files() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
};

constexpr const char* kRecord = R"({"type":"note","text":"one"})";

TEST_CASE("what comes after the end of a trace makes no other file") {
  Folder folder;
  TraceFile file(folder.Target(), 0);
  file.Append(kRecord);
  CHECK(file.Finish({}));
  const std::string text = folder.Text();
  CHECK(file.Append(kRecord) == RecordFile::kDropped);
  CHECK(folder.Files() == 1);
  CHECK(folder.Text() == text);

  Folder empty;
  TraceFile late(empty.Target(), 0);
  CHECK(late.Finish({}));
  CHECK(late.Append(kRecord) == RecordFile::kDropped);
  CHECK(empty.Files() == 0);
}

TEST_CASE("where there is no room for a trace, no file stays behind") {
  Folder folder;
  TraceFile file(folder.Target(1000), 0);
  CHECK(file.Append(kRecord) == RecordFile::kDropped);
  CHECK(file.error() ==
        "the trace has reached its size limit; nothing is recorded: raise the limit");
  CHECK(folder.Files() == 0);
}

TEST_CASE("at the limit on file sizes records are dropped, and no signal comes") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit low{.rlim_cur = 1'500'000, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  static volatile std::sig_atomic_t raised = 0;
  auto* const handler = std::signal(SIGXFSZ, [](int) { raised = 1; });
  Folder folder;
  TraceFile file(folder.Target(), 0);
  for (int i = 0; i < 100'000; ++i) file.Append(kRecord);
  CHECK(file.Finish({}));
  std::signal(SIGXFSZ, handler);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(raised == 0);
  CHECK(file.error() ==
        "the trace has reached the limit on file sizes (ulimit -f); the trace ends here, and says "
        "so");
  const std::string text = folder.Text();
  CHECK(text.size() > 1'490'000);
  CHECK(text.size() <= 1'500'000);
  CHECK(text.find(R"({"type":"dropped","records":)") != std::string::npos);
}

TEST_CASE("a trace counts what is written of it, and not what is dropped") {
  struct FullSink : ListSink {
    uint64_t Append(std::string_view record) override {
      return records.size() < 4 ? ListSink::Append(record) : RecordFile::kDropped;
    }
    std::string_view Read(uint64_t place) const override {
      return place < records.size() ? ListSink::Read(place) : std::string_view();
    }
  } sink;
  Recorder recorder(sink);
  ThreadState thread;
  auto call = [&](const Call& made, std::vector<GraphEvent> events) {
    thread.events = std::move(events);
    recorder.Exit(thread, made);
  };
  call(Script::Of(CallKind::kGraphCreate), {Script::Created(kGraph)});
  call(AddTo(kGraph), Script::Node(kGraph, 1, NodeKind::kEmpty));
  call(AddTo(kGraph), Script::Node(kGraph, 2, NodeKind::kEmpty, {1}));
  call(Script::Of(CallKind::kGraphCreate), {Script::Created(kOther)});
  CHECK(sink.records.size() == 4);
  CHECK(recorder.counts() == RecordCounts{.graphs = 1, .nodes = 2, .edges = 0});
}

}  // namespace
}  // namespace graphkit
