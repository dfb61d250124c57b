#include "libgraphkit/io/files/file_about.h"

#include <doctest/doctest.h>

namespace graphkit {
namespace {

std::string KindOf(std::string_view bytes) {
  const std::optional<FileAbout> about = DescribeBytes("x", bytes);
  return about ? about->kind : "";
}

TEST_CASE("a file is known by its first bytes") {
  CHECK(KindOf(R"({"schema": "graphkit-baseline", "version": 1, "traces": []})") == "baseline");
  CHECK(KindOf(R"({"schema":"graphkit-config","version":1})") == "config");
  CHECK(KindOf(R"({"schema":"graphkit-suppressions","version":1})") == "suppressions");
  CHECK(KindOf(R"({"schema":"graphkit-layers","version":1})") == "layers");
  CHECK(KindOf(R"({"schema":"graphkit-replay","version":1})") == "result");
  CHECK(KindOf("<!doctype html><title>report</title>") == "html");
  CHECK(KindOf("<?xml version=\"1.0\"?>\n<svg width=\"8pt\">") == "svg");
  CHECK(KindOf("<?xml version=\"1.0\"?>\n<testsuites>") == "junit");
}

TEST_CASE("what may be a trace, or nothing that is known, isn't described") {
  for (const char* bytes :
       {R"({"schema":"graphkit-trace","version":1,"device":"soft","records":[)",
        R"({"traceEvents": []})", "digraph dot {", "Thread,Time,Action", "# A page\n", "", "{}"}) {
    CHECK(KindOf(bytes) == "");
  }
}

TEST_CASE("a plan has its figures, and commands that name the file as a shell wants it") {
  const std::optional<FileAbout> about =
      DescribeBytes("my plan.json", R"({"schema":"graphkit-plan","version":1,"peak_bytes":4096,
                                        "placements":[{},{}]})");
  REQUIRE(about);
  CHECK(*about ==
        FileAbout{.kind = "plan",
                  .what = "memory plan of graphkit plan",
                  .facts = {"2 placements", "peak 4 KiB"},
                  .next = {{"graphkit replay trace.json --allocator 'my plan.json' --verify",
                            "check it against its trace"},
                           {"GRAPHKIT_PLAN='my plan.json' python train.py",
                            "let the allocator place blocks so"}}});
}

TEST_CASE("a table of lifetimes has its blocks and what is alive at once") {
  const auto about = DescribeBytes("t.csv", "id,lower,upper,size\na,0,3,4\nb,1,2,8\nc,3,9,16\n");
  REQUIRE(about);
  CHECK(about->kind == "lifetimes");
  CHECK(about->facts == std::vector<std::string>{"3 blocks", "16 B alive at the peak"});
}

TEST_CASE("SARIF has its results; what is damaged says so") {
  const auto sarif = DescribeBytes(
      "s", R"({"version":"2.1.0","$schema":"https://x/sarif.json","runs":[{"results":[{},{}]}]})");
  REQUIRE(sarif);
  CHECK(sarif->facts == std::vector<std::string>{"2 results"});
  const auto cut = DescribeBytes("p", R"({"schema":"graphkit-plan","placements":[)");
  REQUIRE(cut);
  CHECK(cut->facts == std::vector<std::string>{"damaged: not valid JSON"});
}

TEST_CASE("a folder without traces says so, and what isn't there is nothing") {
  CHECK(DescribeFile("/nonexistent/file") == std::nullopt);
  const auto folder = DescribeFile(GRAPHKIT_TESTDATA "/workloads");
  REQUIRE(folder);
  CHECK(folder->kind == "folder");
  CHECK(folder->facts.back() == "no traces in this folder");
  CHECK(folder->next.empty());
}

}  // namespace
}  // namespace graphkit
