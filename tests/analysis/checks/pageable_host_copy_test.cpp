#include <doctest/doctest.h>

#include "tests/analysis/checks/run.h"

namespace graphkit {
namespace {

constexpr Address kBuffer = 0x5500'0000;

struct HostEndAt {
  HostMemoryKind kind;
  Address address;
  AccessMode mode = AccessMode::kRead;
};

std::vector<Finding> Copying(std::initializer_list<HostEndAt> ends) {
  TraceBuilder t;
  const StreamId s = t.Stream();
  const BlockId x = t.Alloc({}, 1 << 20);
  const GraphId graph = t.BeginCapture(s, "load");
  for (const HostEndAt& end : ends) {
    t.Memcpy(s, {Writes(x)});
    t.TouchHost(end.kind, end.mode, end.address, 4096);
  }
  t.EndCapture(s);
  t.Launch(t.Instantiate(graph), s);
  return Run("pageable-host-copy", &t);
}

TEST_CASE("pageable-host-copy notes copies of pageable memory and of stacks") {
  const auto findings = Copying({{HostMemoryKind::kPageable, kBuffer},
                                 {HostMemoryKind::kStack, kBuffer + 4096, AccessMode::kWrite}});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK(findings[0].message ==
        "graph 0 'load' copies pageable memory of the host (8 KiB in 2 nodes): each launch uses "
        "the address that was captured");
  CHECK(findings[0].bytes == 8192);
  REQUIRE(findings[0].evidence.size() == 2);
  CHECK(findings[0].evidence[1].text ==
        "node 1 (memcpy) writes 4 KiB of a function's stack at 0x55001000");
}

TEST_CASE("pageable-host-copy warns where two copies read the same memory") {
  const auto findings =
      Copying({{HostMemoryKind::kPageable, kBuffer}, {HostMemoryKind::kPageable, kBuffer + 4000}});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kWarning);
  // Beside each other, or written: no.
  CHECK(Copying({{HostMemoryKind::kPageable, kBuffer}, {HostMemoryKind::kPageable, kBuffer + 4096}})
            .at(0)
            .severity == Severity::kNote);
  CHECK(Copying({{HostMemoryKind::kPageable, kBuffer},
                 {HostMemoryKind::kPageable, kBuffer, AccessMode::kWrite}})
            .at(0)
            .severity == Severity::kNote);
}

TEST_CASE("pageable-host-copy leaves the program's own memory and page-locked memory alone") {
  CHECK(
      Copying({{HostMemoryKind::kProgram, kBuffer}, {HostMemoryKind::kProgram, kBuffer}}).empty());
  CHECK(Copying({}).empty());
}

}  // namespace
}  // namespace graphkit
