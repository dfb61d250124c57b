#include "libgraphkit/io/import/file_format.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

std::string KindOf(std::string_view bytes) {
  const FileFormat* format = GuessFormat(bytes);
  return format ? format->name : "";
}

FileAbout Describe(std::string_view bytes) {
  const FileFormat* format = GuessFormat(bytes);
  REQUIRE(format);
  return DescribeBytes(*format, bytes);
}

TEST_CASE("a file is known by its first bytes") {
  CHECK(KindOf(R"({"schema": "graphkit-baseline", "version": 1, "traces": []})") == "baseline");
  CHECK(KindOf(R"({"schema":"graphkit-config","version":1})") == "config");
  CHECK(KindOf(R"({"schema":"graphkit-suppressions","version":1})") == "suppressions");
  CHECK(KindOf(R"({"schema":"graphkit-replay","version":1})") == "result");
  CHECK(KindOf("<!doctype html><title>report</title>") == "html");
  CHECK(KindOf("<?xml version=\"1.0\"?>\n<svg width=\"8pt\">") == "svg");
  CHECK(KindOf("<?xml version=\"1.0\"?>\n<testsuites>") == "junit");
}

TEST_CASE("traces, files of other tools and unknown files") {
  CHECK(KindOf(R"({"schema":"graphkit-trace","version":1,"device":"soft","records":[)") == "trace");
  CHECK(KindOf(R"({"traceEvents": []})") == "kineto");
  CHECK(KindOf("digraph dot {") == "dot");
  for (const char* bytes : {"# A page\n", "", "{}"}) CHECK(KindOf(bytes) == "");
}

TEST_CASE("every format has a name of its own, and only files of other tools are imported") {
  for (const FileFormat& format : FileFormats()) {
    CHECK(FindFormat(format.name) == &format);
    CHECK((format.read != nullptr) == (format.written_by != nullptr));
    CHECK_FALSE((format.read != nullptr && format.facts != nullptr));
  }
  CHECK(FindFormat("other") == nullptr);
  CHECK(std::string(TraceFormat().name) == "trace");
}

TEST_CASE("a plan has its figures, and commands that go on from it") {
  CHECK(Describe(R"({"schema":"graphkit-plan","version":1,"peak_bytes":4096,
                     "placements":[{},{}]})") ==
        FileAbout{
            .kind = "plan",
            .what = "memory plan of graphkit plan",
            .facts = {"2 placements", "peak 4 KiB"},
            .next = {{"graphkit replay trace.json --allocator FILE --verify",
                      "check it against its trace"},
                     {"GRAPHKIT_PLAN=FILE python train.py", "let the allocator place blocks so"}}});
}

TEST_CASE("a table of lifetimes has its blocks and what is alive at once") {
  const FileAbout about = Describe("id,lower,upper,size\na,0,3,4\nb,1,2,8\nc,3,9,16\n");
  CHECK(about.kind == "lifetimes");
  CHECK(about.facts == std::vector<std::string>{"3 blocks", "16 B alive at the peak"});
}

TEST_CASE("SARIF has its results; what is damaged says so") {
  CHECK(Describe(
            R"({"version":"2.1.0","$schema":"https://x/sarif.json","runs":[{"results":[{},{}]}]})")
            .facts == std::vector<std::string>{"2 results"});
  CHECK(Describe(R"({"schema":"graphkit-plan","placements":[)").facts ==
        std::vector<std::string>{"damaged: not valid JSON"});
}

TEST_CASE("a folder without traces says so, and what isn't there is nothing") {
  CHECK(DescribeFolder("/nonexistent/file") == std::nullopt);
  const auto folder = DescribeFolder(GRAPHKIT_TESTDATA "/workloads");
  REQUIRE(folder);
  CHECK(folder->kind == "folder");
  CHECK(folder->facts.back() == "no traces in this folder");
  CHECK(folder->next.empty());
}

}  // namespace
}  // namespace graphkit
