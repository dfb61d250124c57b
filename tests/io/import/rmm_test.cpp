#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/io/import/read_format.h"

namespace graphkit {
namespace {

TEST_CASE("the rows of RMM's log are allocations, frees and failures") {
  const Imported imported = ReadSample("import/rmm.csv");
  const Trace& trace = imported.trace;
  REQUIRE(trace.blocks.size() == 2);
  CHECK(trace.blocks[0].freed());
  CHECK(trace[trace.blocks[1].stream].handle == 2);
  CHECK_FALSE(trace.blocks[1].freed());
  REQUIRE(trace.failures.size() == 1);
  CHECK(IsComplete(trace));
  // Past midnight.
  CHECK(trace.times[trace.blocks[1].allocated] - trace.times[trace.blocks[0].allocated] ==
        2'000'000);
}

TEST_CASE("RMM: columns may stand anywhere; what can't be read or matched is said") {
  const Trace trace = Read("rmm",
                           "Stream,Size,Pointer,Action,Time,Thread\n0,8,0x10,allocate,1:2:3,1\n"
                           "0,8,0x20,deallocate,1:2:4,1\nnonsense\n")
                          .trace;
  CHECK(trace.blocks.size() == 1);
  CHECK(trace.completeness.notes ==
        std::vector<std::string>{"1 row of the log could not be read",
                                 "the log lacks the other end of 1 allocation or free"});
  CHECK(ErrorOf("rmm", "Thread,Time\n") == "not a log of RMM: its first line lacks columns");
}

TEST_CASE("a log with a size that nothing has is refused") {
  const std::string head = "Thread,Time,Action,Pointer,Size,Stream\n";
  CHECK(ErrorOf("rmm", head + "1,1:2:3,allocate,0x10,18446744073709551615,0\n") ==
        "impossible sizes or addresses: block 0 has more than 2^56 bytes, which is more than there "
        "can be");
  CHECK(ErrorOf("rmm", head + "1,1:2:3,allocate,0xffffffffffffffff,8,0\n") ==
        "impossible sizes or addresses: block 0 ends beyond 2^64");
}

}  // namespace
}  // namespace graphkit
