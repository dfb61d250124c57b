#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

// A server that captures read(request, weight) for each request.
struct Server {
  TraceBuilder t;
  StreamId s = t.Stream("s");
  BlockId weight = t.Alloc({}, 512);

  BlockId Request(Bytes size, const char* line = "serve.py") {
    t.SetStack(t.Stack({{"serve", line, 7}}));
    const BlockId request = t.Alloc({}, size);
    t.SetStack({});
    return request;
  }
  void Record(BlockId request, BlockId of, bool trial = false) {
    const GraphId graph = t.BeginCapture(s);
    const BlockId own = t.Alloc(s, 256);
    t.Kernel(s, "read", {Reads(request), Reads(of), Writes(own)});
    t.Memset(s, {Writes(own)});
    t.Free(own);
    t.EndCapture(s);
    const ExecId exec = t.Instantiate(graph);
    if (trial) {
      t.Destroy(exec);
    } else {
      t.Launch(exec, s);
    }
  }
  void Record(Bytes size) { Record(Request(size), weight); }
  std::vector<Finding> Find() { return Run("recorded-again", &t); }
};

TEST_CASE("recorded-again names the input that moved and what copying it would cost") {
  Server server;
  for (int i = 0; i < 5; ++i) server.Record(4096);
  const std::vector<Finding> findings = server.Find();
  REQUIRE(findings.size() == 1);
  const Finding& finding = findings[0];
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message ==
        "4 of 5 recordings of the same code (2 nodes, graph 0 first) were made only because an "
        "input had another address; copying 4 KiB before a launch would have saved them");
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].stack.valid());
}

TEST_CASE("recorded-again leaves out trials: graphs that are destroyed unlaunched") {
  Server server;
  for (int i = 0; i < 5; ++i) server.Record(server.Request(4096), server.weight, true);
  CHECK(server.Find().empty());
}

TEST_CASE("recorded-again leaves out inputs that other graphs make") {
  Server server;  // forward and backward of one microbatch after the other
  for (int i = 0; i < 5; ++i) {
    const GraphId forward = server.t.BeginCapture(server.s);
    const BlockId activation = server.t.Alloc(server.s, 4096);
    server.t.Kernel(server.s, "forward", {Writes(activation)});
    server.t.EndCapture(server.s);
    server.t.Launch(server.t.Instantiate(forward), server.s);
    server.Record(activation, server.weight);
    server.t.Free(activation);
  }
  CHECK(server.Find().empty());
}

TEST_CASE("recorded-again counts recordings for other sizes apart") {
  Server server;
  for (const Bytes size : {4096u, 4096u, 8192u, 8192u}) server.Record(size);
  const std::vector<Finding> findings = server.Find();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message.starts_with("2 of 4 recordings"));
  CHECK(findings[0].evidence.back().text ==
        "1 recording had an input of another size, allocated at serve.py:7");
}

TEST_CASE("recorded-again compares with every earlier recording, not the last one alone") {
  Server server;  // two layers by turns, each with a new input
  const BlockId second = server.t.Alloc({}, 512);
  for (int i = 0; i < 2; ++i) {
    server.Record(server.Request(4096), server.weight);
    server.Record(server.Request(4096), second);
  }
  const std::vector<Finding> findings = server.Find();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.starts_with("2 of 4 recordings"));
}

TEST_CASE("recorded-again counts recordings for two buffers that take turns") {
  Server server;
  const BlockId a = server.Request(4096), b = server.Request(4096);
  for (int i = 0; i < 2; ++i) {
    server.Record(a, server.weight);
    server.Record(b, server.weight);
  }
  const std::vector<Finding> findings = server.Find();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message.starts_with("2 of 4 recordings"));
  CHECK(findings[0].message.find("copying 4 KiB") != std::string::npos);
  CHECK(findings[0].evidence[0].text.ends_with("(one of 2 addresses)"));
  REQUIRE(findings[0].evidence.size() == 3);
  CHECK(findings[0].evidence[1].text ==
        "2 recordings had the addresses of an earlier one, whose graph would have done");
}

TEST_CASE("recorded-again finds nothing in a server with a graph for each size") {
  Server server;
  for (const Bytes size : {4096u, 8192u, 16384u}) server.Record(size);
  CHECK(server.Find().empty());
}

TEST_CASE("recorded-again finds nothing where layers have weights of their own") {
  Server server;
  const BlockId x = server.Request(4096), other = server.t.Alloc({}, 512);
  server.Record(x, server.weight);
  server.Record(x, other);
  CHECK(server.Find().empty());
  Server moved;  // the weight lives on beside the other one: two layers, also with a new input
  const BlockId second = moved.t.Alloc({}, 512);
  moved.Record(moved.Request(4096), moved.weight);
  moved.Record(moved.Request(4096), second);
  CHECK(moved.Find().empty());
}

TEST_CASE("recorded-again counts an input that was freed before the next recording") {
  Server server;
  const BlockId first = server.Request(4096), second = server.Request(4096);
  server.Record(first, server.weight);
  server.t.Free(first);
  server.Record(second, server.weight);
  CHECK(server.Find().size() == 1);
}

TEST_CASE("recorded-again finds nothing where one graph is captured twice, or once") {
  Server server;
  const BlockId x = server.Request(4096);
  server.Record(x, server.weight);
  CHECK(Run("recorded-again", Ran(server.t.trace())).empty());
  server.Record(x, server.weight);
  CHECK(server.Find().empty());
}

}  // namespace
}  // namespace graphkit
