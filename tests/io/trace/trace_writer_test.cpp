#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/io/trace/trace_reader.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/build_trace.h"
#include "tests/io/trace/random_trace.h"

namespace graphkit {
namespace {

// A folder of its own for the test.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("graphkit-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string File(const char* name) const { return path_ / name; }
  size_t Count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

TEST_CASE("what is written to a file reads back, compressed or not") {
  const Folder folder;
  const Trace trace = RandomTrace(11, 400);
  for (const char* name : {"a.json", "a.json.zst"}) {
    CAPTURE(name);
    REQUIRE(WriteTrace(trace, folder.File(name)));
    const Result<Trace> again = ReadTrace(folder.File(name));
    REQUIRE_MESSAGE(again, Describe(again.error()));
    CHECK(*again == trace);
  }
  CHECK(std::filesystem::file_size(folder.File("a.json.zst")) <
        std::filesystem::file_size(folder.File("a.json")) / 2);
  CHECK(folder.Count() == 2);
}

TEST_CASE("a compressed file that is cut is a truncated trace") {
  const Folder folder;
  const std::string path = folder.File("a.json.zst");
  REQUIRE(WriteTrace(RandomTrace(11, 15'000), path));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Result<Trace> cut = ReadTrace(path);
  REQUIRE_MESSAGE(cut, Describe(cut.error()));
  CHECK(cut->completeness.truncated);
  CHECK(cut->records > 1000);
}

TEST_CASE("a trace that can't be written leaves nothing behind") {
  const Folder folder;
  TraceBuilder t;
  t.Stream();
  Trace trace = t.Record();
  trace.streams[0].destroyed = trace.streams[0].created;
  const Result<void> written = WriteTrace(trace, folder.File("x.json"));
  REQUIRE_FALSE(written);
  CHECK(written.error().message == "two records stand at place 1");
  CHECK(folder.Count() == 0);
  const Result<void> nowhere = WriteTrace(trace, folder.File("no/such/folder/x.json"));
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message == "can't create: No such file or directory");
}

TEST_CASE("notes and lost records take the free places, or follow") {
  TraceBuilder t;
  t.Note("half of it");
  Trace trace = t.Record();
  trace.completeness.notes.emplace_back("the other half");
  trace.completeness.dropped_records = 5;
  const Trace again = ParseTrace(FormatTrace(trace).value(), "x").value();
  CHECK(again.completeness == trace.completeness);
  CHECK(again.records == 3);
}

TEST_CASE("names that aren't UTF-8 are written as UTF-8") {
  TraceBuilder t;
  t.Stream("a\xff\xc3z\x01");
  const std::string text = FormatTrace(t.Record()).value();
  CHECK(text.find("a\xef\xbf\xbd\xef\xbf\xbdz\\u0001") != std::string::npos);
  CHECK(ParseTrace(text, "x"));
}

TEST_CASE("files that can't be read say why") {
  const Folder folder;
  CHECK(Describe(ReadTrace("/no/such/file").error()) ==
        "/no/such/file: can't be opened: No such file or directory");
  CHECK(ReadTrace("/").error().message == "is a directory");
  const std::string path = folder.File("damaged.zst");
  std::ofstream(path) << "\x28\xb5\x2f\xfd garbage that is no zstd frame";
  CHECK(ReadTrace(path).error().message.starts_with("can't be decompressed: "));
}

}  // namespace
}  // namespace graphkit
