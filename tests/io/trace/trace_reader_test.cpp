#include "libgraphkit/io/trace/trace_reader.h"
#include "libgraphkit/io/trace/trace_writer.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "tests/build_trace.h"
#include "tests/io/trace/random_trace.h"

namespace graphkit {
namespace {

constexpr const char* kHeader =
    R"({"schema":"graphkit-trace","version":1,"device":"soft","records":[)"
    "\n";

Trace Parsed(const std::string& text) {
  Result<Trace> trace = ParseTrace(text, "t.json");
  REQUIRE_MESSAGE(trace, Describe(trace.error()));
  return std::move(*trace);
}

std::string ErrorOf(const std::string& text) {
  const Result<Trace> trace = ParseTrace(text, "t.json");
  return trace ? "no error" : Describe(trace.error());
}

// A whole file of these records.
std::string File(std::initializer_list<const char*> records) {
  std::string text = kHeader;
  for (const char* record : records) text += std::string(record) + ",\n";
  return text + R"({"type":"end","records":)" + std::to_string(records.size()) + "}]}\n";
}

TEST_CASE("keys may stand in any order, and unknown keys and types are passed over") {
  const Trace trace = Parsed(
      File({R"({"name":"side","later":{"a":[1,{"b":"}"}]},"handle":"0x1F","id":0,"type":"stream"})",
            R"({"type":"from_the_future","id":[],"x":null})",
            R"({ "type" : "stream" , "id" : 1 , "handle" : "0x0", "t": 77 })"}));
  REQUIRE(trace.streams.size() == 2);
  CHECK(trace[trace.streams[0].name] == "side");
  CHECK(trace.streams[0].handle == 0x1f);
  CHECK(trace.streams[1].created == 2);
  CHECK(trace.times == std::vector<Nanoseconds>{0, 0, 77});
  CHECK(trace.records == 3);
}

TEST_CASE("strings keep their escapes") {
  const Trace trace =
      Parsed(File({R"({"type":"note","text":"a \"b\" \\ \n \u00e9 \ud83d\ude00"})"}));
  CHECK(trace.completeness.notes[0] == "a \"b\" \\ \n \xc3\xa9 \xf0\x9f\x98\x80");
}

// Two blocks of 2^63 bytes were a peak of 0 bytes.
TEST_CASE("sizes and addresses that nothing has are refused, with their line") {
  constexpr const char* kPool = R"({"type":"pool","id":0,"kind":"device"})";
  const auto error = [&](const std::string& record) {
    return ErrorOf(File({kPool, R"({"type":"alloc","id":0,"address":"0x1000","size":512,"pool":0})",
                         record.c_str()}));
  };
  const std::string damaged = "; the file is damaged, or what wrote it is wrong";
  CHECK(
      error(R"({"type":"alloc","id":1,"address":"0x2000","size":9223372036854775808,"pool":0})") ==
      "t.json:4: block 1 has more than 2^56 bytes, which is more than there can be" + damaged);
  CHECK(error(R"({"type":"alloc","id":1,"address":"0xffffffffffffff00","size":256,"pool":0})") ==
        "t.json:4: block 1 ends beyond 2^64" + damaged);
  CHECK(error(R"({"type":"segment","id":0,"address":"0x0","size":72057594037927937,"pool":0})") ==
        "t.json:4: segment 0 has more than 2^56 bytes, which is more than there can be" + damaged);
  CHECK(error(R"({"type":"work","kind":"memset","access":[[0,"w",0,9223372036854775807]]})") ==
        "t.json:4: record 2 has an access beyond 2^56 bytes, which is more than there can be" +
            damaged);
  CHECK(error(R"({"type":"work","kind":"memset","access":[[0,"w",18446744073709551615,1]]})") ==
        "t.json:4: record 2 has an access beyond 2^56 bytes, which is more than there can be" +
            damaged);
}

TEST_CASE("blocks together are memory that there can be") {
  std::string text = kHeader;
  text += R"({"type":"pool","id":0,"kind":"device"},)"
          "\n";
  for (int i = 0; i < 65; ++i) {
    text += R"({"type":"alloc","id":)" + std::to_string(i) +
            R"(,"address":"0x0","size":72057594037927936,"pool":0},)"
            "\n";
  }
  text += R"({"type":"end","records":66}]})";
  CHECK(ErrorOf(text) ==
        "t.json:67: block 64 makes its kind more than 2^62 bytes together; the file is damaged, or "
        "what wrote it is wrong");
}

TEST_CASE("a process may come again: later keys replace earlier ones") {
  const Trace trace = Parsed(File({R"({"type":"process","pid":7,"program":"a","args":["x"]})",
                                   R"({"type":"process","driver":13000})"}));
  CHECK(trace.process.pid == 7);
  CHECK(trace.process.program == "a");
  CHECK(trace.process.driver_version == 13000);
  CHECK(trace.process.device == DeviceKind::kSoft);
}

TEST_CASE("a block that is freed again keeps its first free") {
  const Trace trace =
      Parsed(File({R"({"type":"pool","id":0,"kind":"graph"})",
                   R"({"type":"alloc","id":0,"address":"0x10","size":1,"pool":0})",
                   R"({"type":"free","memory":0})", R"({"type":"free","memory":0})"}));
  CHECK(trace.blocks[0].free_requested == 2);
  CHECK(trace.blocks[0].free_completed == 2);
}

TEST_CASE("work outside of captures is kept") {
  const Trace trace = Parsed(
      File({R"({"type":"pool","id":0,"kind":"device"})",
            R"({"type":"alloc","id":0,"address":"0x10","size":64,"pool":0})",
            R"({"type":"stream","id":0,"handle":"0x1"})", R"({"type":"kernel","id":0,"name":"k"})",
            R"({"type":"work","stream":0,"kind":"kernel","kernel":0,"access":[[0,"r",8,-1]]})",
            R"({"type":"work","stream":0,"kind":"memset","complete":true})"}));
  CHECK(trace.works == std::vector<EagerWork>{{.stream = StreamId(0u),
                                               .kind = NodeKind::kKernel,
                                               .kernel = KernelId(0u),
                                               .shape = 0,
                                               .accesses = {0, 1},
                                               .seq = 4},
                                              {.stream = StreamId(0u),
                                               .kind = NodeKind::kMemset,
                                               .accesses_complete = true,
                                               .seq = 5}});
  CHECK(trace.accesses[0] == Reads(BlockId(0u), 8));
}

TEST_CASE("an access of rows says which bytes of them it touches") {
  const auto file = [](const std::string& access) {
    const std::string work =
        R"({"type":"work","kind":"memcpy","access":[[0,"w",8,)" + access + "]]}";
    return File({R"({"type":"pool","id":0,"kind":"device"})",
                 R"({"type":"alloc","id":0,"address":"0x10","size":64,"pool":0})", work.c_str()});
  };
  const Access access = Parsed(file("40,8,16,2,4")).accesses[0];
  CHECK(access == Access{BlockId(0u), AccessMode::kWrite, 8, 40, {8, 16, 2, 4}});
  CHECK(Parsed(file("40")).accesses[0].rows == AccessRows());
  CHECK(ErrorOf(file("40,8,16")).starts_with("t.json:4: "));
  for (const char* rows : {"40,17,16,0,0", "40,8,16,5,4"}) {
    CHECK(ErrorOf(file(rows)).find("rows overlap each other") != std::string::npos);
  }
}

TEST_CASE("a node says what it does together with other ranks") {
  const auto file = [](const char* node) {
    return File({R"({"type":"communicator","id":0,"key":"0x5","ranks":4,"rank":3})",
                 R"({"type":"graph","id":0,"origin":"explicit"})", node});
  };
  const Trace trace =
      Parsed(file(R"({"type":"node","id":0,"graph":0,"kind":"kernel",)"
                  R"("collectives":[[0,"send",7,"bf16",1],[0,"receive",9,"int8",-1]]})"));
  CHECK(trace.communicators ==
        std::vector<Communicator>{{.key = 5, .ranks = 4, .rank = 3, .created = 0}});
  const CommunicatorId c(0u);
  CHECK(trace.collectives ==
        std::vector<Collective>{{2, c, CollectiveKind::kSend, ElementType::kBf16, 7, 1},
                                {2, c, CollectiveKind::kReceive, ElementType::kInt8, 9, -1}});
  CHECK(RowsAt(trace.collectives, 2).size() == 2);
  CHECK(RowsAt(trace.collectives, 1).empty());
  CHECK(ErrorOf(file(R"({"type":"work","kind":"kernel","collectives":[[1,"send",7,"bf16",1]]})"))
            .starts_with("t.json:4: record \"work\" has communicator 1, but"));
  CHECK(ErrorOf(file(R"({"type":"communicator","id":1,"ranks":2,"rank":2})"))
            .starts_with("t.json:4: record \"communicator\" has rank 2 of 2 ranks"));
}

TEST_CASE(
    "a copy says what it touches of the host's own memory, and a launch how far a stack went") {
  const Trace trace = Parsed(File(
      {R"({"type":"thread","id":0,"tid":7})", R"({"type":"graph","id":0,"origin":"explicit"})",
       R"({"type":"node","id":0,"graph":0,"kind":"memcpy",)"
       R"("host":[["stack","r","0x7ffc00",512],["pageable","w","0x10",-1]]})",
       R"({"type":"exec","id":0,"graph":0})",
       R"({"type":"node_set","node":0,"exec":0,"what":"params","host":[["program","r","0x20",8]]})",
       R"({"type":"stack_top","thread":0,"address":"0x7ffd00"})",
       R"({"type":"launch","exec":0})"}));
  CHECK(trace.host_ends ==
        std::vector<HostEnd>{{2, HostMemoryKind::kStack, AccessMode::kRead, 0x7ffc00, 512},
                             {2, HostMemoryKind::kPageable, AccessMode::kWrite, 0x10},
                             {4, HostMemoryKind::kProgram, AccessMode::kRead, 0x20, 8}});
  CHECK(RowsAt(trace.host_ends, 2).size() == 2);
  CHECK(RowsAt(trace.host_ends, 3).empty());
  CHECK(trace.stack_tops == std::vector<StackTop>{{ThreadId(0u), 0x7ffd00, 5}});
}

TEST_CASE("a node is given other parameters, and switched off") {
  const Trace trace = Parsed(File(
      {R"({"type":"pool","id":0,"kind":"device"})",
       R"({"type":"alloc","id":0,"address":"0x10","size":64,"pool":0})",
       R"({"type":"graph","id":0,"origin":"explicit"})", R"({"type":"kernel","id":0,"name":"k"})",
       R"({"type":"node","id":0,"graph":0,"kind":"kernel"})", R"({"type":"exec","id":0,"graph":0})",
       R"({"type":"node_set","node":0,"exec":0,"what":"params","kernel":0,"grid":[4,1,1],)"
       R"("access":[[0,"r",8,-1]],"complete":true})",
       R"({"type":"node_set","node":0,"what":"disabled"})",
       R"({"type":"node_set","node":0,"what":"params","child":0})"}));
  CHECK(trace.node_changes ==
        std::vector<NodeChange>{{.node = NodeId(0u),
                                 .exec = ExecId(0u),
                                 .accesses_complete = true,
                                 .kernel = KernelId(0u),
                                 .shape = 1,
                                 .accesses = {0, 1},
                                 .seq = 6},
                                {.node = NodeId(0u), .what = NodeChangeKind::kDisabled, .seq = 7},
                                {.node = NodeId(0u), .shape = 0, .child = GraphId(0u), .seq = 8}});
  CHECK(trace.shapes.at(1) == LaunchShape{{4, 1, 1}, {1, 1, 1}, 0});
  CHECK(trace.accesses[0] == Reads(BlockId(0u), 8));
}

TEST_CASE("a change names a node, an exec and blocks that are there") {
  const auto error_of = [](const char* change) {
    return ErrorOf(File({R"({"type":"graph","id":0,"origin":"explicit"})",
                         R"({"type":"node","id":0,"graph":0,"kind":"memset"})", change}));
  };
  const auto missing = [](const std::string& what, const std::string& of) {
    return "t.json:4: record \"node_set\" has " + what + ", but " + of;
  };
  CHECK(error_of(R"({"type":"node_set","node":1,"what":"enabled"})")
            .starts_with(missing("node 1", "")));
  CHECK(error_of(R"({"type":"node_set","node":0,"exec":2,"what":"enabled"})")
            .starts_with(missing("exec 2", "no execs")));
  CHECK(error_of(R"({"type":"node_set","node":0,"what":"params","access":[[0,"w",0,4]]})")
            .starts_with(missing("access to block 0", "no blocks")));
  CHECK(error_of(R"({"type":"node_set","node":0,"what":"gone"})")
            .starts_with("t.json:4: record \"node_set\""));
}

TEST_CASE("an exec says what its nodes are called there") {
  const auto with = [](const std::string& node_ids) {
    const std::string exec =
        R"({"type":"exec","id":0,"graph":0,"tool_id":4,"node_ids":)" + node_ids + "}";
    return File({R"({"type":"graph","id":0,"origin":"explicit"})",
                 R"({"type":"node","id":0,"graph":0,"kind":"memset"})",
                 R"({"type":"node","id":1,"graph":0,"kind":"memset"})", exec.c_str(),
                 R"({"type":"launch","exec":0,"correlation":77})"});
  };
  const Trace trace = Parsed(with("[[0,2,4,8]]"));
  CHECK(
      trace.tool_id_runs ==
      std::vector<ToolIdRun>{{.first = NodeId(0u), .count = 2, .tool_id = uint64_t{4} << 32 | 8}});
  CHECK(trace.execs[0].node_ids == Slice{0, 1});
  CHECK(trace.launches[0].correlation == 77);
  CHECK(ErrorOf(with("[[2,1,4,8]]"))
            .starts_with("t.json:5: record \"exec\" has node_ids 2, but only 2 nodes"));
  CHECK(ErrorOf(with("[[1,2,4,8]]"))
            .starts_with("t.json:5: record \"exec\" names 2 nodes from node 1 on, but only 2"));
  CHECK(ErrorOf(with("[[1,0,4,8]]")).starts_with("t.json:5: record \"exec\" names 0 nodes"));
  CHECK(ErrorOf(with("[[1,1,4]]"))
            .starts_with("t.json:5: record \"exec\" has a bad \"node_ids\": it should be [node,"));
}

TEST_CASE("what was lost makes a trace incomplete") {
  const Trace trace =
      Parsed(File({R"({"type":"dropped","records":3})", R"({"type":"dropped","records":4})"}));
  CHECK(trace.completeness.dropped_records == 7);
  CHECK_FALSE(IsComplete(trace));
}

TEST_CASE("the end record needs no line feed, and nothing may follow it") {
  std::string text = File({R"({"type":"note","text":"x"})"});
  text.pop_back();
  CHECK_FALSE(Parsed(text).completeness.truncated);
  CHECK_FALSE(Parsed(text + "\n\n \n").completeness.truncated);
  CHECK(ErrorOf(text + "\n{\"type\":\"blank\"},\n") ==
        "t.json:4: record \"blank\" comes after the end record");
  CHECK(ErrorOf(text + "\nx") == "t.json:4: text follows the end record");
}

TEST_CASE("zeros at the end are the traces of a killed writer") {
  std::string text = std::string(kHeader) + "{\"type\":\"note\",\"text\":\"x\"},\n";
  const Trace whole = Parsed(text);
  CHECK(whole.completeness.truncated);
  text += "{\"type\":\"no";
  text.append(5000, '\0');
  CHECK(Parsed(text) == whole);
}

// Cutting at byte n must give the records whose line feed is before n, marked as truncated.
TEST_CASE("a file can be cut at every byte") {
  const std::string text = FormatTrace(RandomTrace(4, 60)).value();
  const size_t header = text.find('\n');
  for (size_t cut = 0; cut < text.size(); ++cut) {
    CAPTURE(cut);
    const Result<Trace> trace = ParseTrace(text.substr(0, cut), "cut");
    if (cut < header) {
      REQUIRE_FALSE(trace);
      continue;
    }
    REQUIRE_MESSAGE(trace, Describe(trace.error()));
    const bool whole = cut + 1 >= text.size();
    REQUIRE(trace->completeness.truncated == !whole);
    const auto lines = std::count(text.begin(), text.begin() + static_cast<long>(cut), '\n');
    if (!whole) REQUIRE(trace->records == static_cast<Seq>(std::max<long>(lines - 1, 0)));
  }
}

TEST_CASE("flipped bits give a trace or one clear error, never a crash") {
  const std::string text = FormatTrace(RandomTrace(9, 100)).value();
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::string bad = text;
    for (int i = 0; i < 3; ++i) bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    const Result<Trace> trace = ParseTrace(bad, "bad");
    if (trace) {
      const Result<std::string> again = FormatTrace(*trace);
      CHECK(again);
    } else {
      CHECK(trace.error().line.has_value());
      CHECK(Describe(trace.error()).find('\n') == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace graphkit
