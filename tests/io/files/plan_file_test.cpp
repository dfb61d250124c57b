// A plan file may say anything: what doesn't hold together is refused, with its place.
#include "libgraphkit/io/files/plan_files.h"

#include <doctest/doctest.h>

#include <string>

namespace graphkit {
namespace {

constexpr char kArenas[] = R"({"graph":3,"pool":1,"blocks":2,"peak_bytes":3072,)"
                           R"("lower_bound_bytes":3072})";
constexpr char kPlacements[] = R"({"block":4,"arena":0,"offset":0,"size":1024},)"
                               R"({"block":6,"arena":0,"offset":1024,"size":2048})";

std::string PlanText(const std::string& arenas, const std::string& placements,
                     const std::string& more = "") {
  return R"({"schema":"graphkit-plan","version":1,"source":"trace",)" + more + R"("arenas":[)" +
         arenas + R"(],"placements":[)" + placements + "]}";
}

std::string Wrong(const std::string& text) {
  const Result<PlannedMemory> plan = ParsePlan(text, "plan.json");
  INFO(text);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().file == "plan.json");
  return plan.error().message;
}

std::string WrongPlacement(const std::string& first) {
  return Wrong(PlanText(kArenas, first + "," + kPlacements));
}

std::string WrongArena(const std::string& arena) { return Wrong(PlanText(arena, kPlacements)); }

TEST_CASE("a plan is read, with or without a sequence") {
  const Result<PlannedMemory> plan = ParsePlan(PlanText(kArenas, kPlacements), "plan.json");
  REQUIRE(plan);
  PlannedMemory expected{.of_trace = true};
  expected.arenas = {{GraphId(3u), PoolId(1u), 2, 3072, 3072}};
  expected.placements = {{4, 0, 0, 1024}, {6, 0, 1024, 2048}};
  expected.peak = expected.lower_bound = 3072;
  CHECK(*plan == expected);

  const std::string shared = R"({"graph":null,"pool":null,"blocks":2,"peak_bytes":3072,)"
                             R"("lower_bound_bytes":0})";
  const auto together = ParsePlan(PlanText(shared, kPlacements, R"("sequence":[3,0,3],)"), "");
  REQUIRE(together);
  CHECK(together->sequence == std::vector<GraphId>{GraphId(3u), GraphId(0u), GraphId(3u)});
  CHECK_FALSE(together->arenas[0].graph.valid());
}

TEST_CASE("no number is cut to 32 bits: 2^32 + 4 isn't block 4") {
  const char* const kNoIndex = " is not a whole number below 4294967295";
  CHECK(WrongPlacement(R"({"block":4294967300,"arena":0,"offset":0,"size":1})") ==
        std::string("placements[0]: \"block\"") + kNoIndex);
  CHECK(WrongPlacement(R"({"block":4294967295,"arena":0,"offset":0,"size":1})") ==
        std::string("placements[0]: \"block\"") + kNoIndex);
  CHECK(WrongPlacement(R"({"block":1,"arena":4294967296,"offset":0,"size":1})") ==
        std::string("placements[0]: \"arena\"") + kNoIndex);
  CHECK(WrongArena(R"({"graph":4294967299,"pool":1,"blocks":2,"peak_bytes":3072,)"
                   R"("lower_bound_bytes":0})") == std::string("arenas[0]: \"graph\"") + kNoIndex);
  CHECK(WrongArena(R"({"graph":3,"pool":4294967297,"blocks":2,"peak_bytes":3072,)"
                   R"("lower_bound_bytes":0})") == std::string("arenas[0]: \"pool\"") + kNoIndex);
  for (const char* graph : {"4294967299", "4294967295", "-1", "1.5", "\"3\"", "null", "1e3"}) {
    CHECK(Wrong(PlanText("", "", R"("sequence":[)" + std::string(graph) + "],")) ==
          "sequence[0] is no id of a graph");
  }
}

TEST_CASE("sizes are memory that there can be, and none reaches beyond its arena") {
  CHECK(WrongPlacement(R"({"block":1,"arena":0,"offset":18446744073709551615,"size":2})") ==
        "placements[0]: \"offset\" is more memory than there can be");
  CHECK(WrongPlacement(R"({"block":1,"arena":0,"offset":0,"size":72057594037927937})") ==
        "placements[0]: \"size\" is more memory than there can be");
  CHECK(WrongPlacement(R"({"block":1,"arena":0,"offset":3072,"size":1})") ==
        "placements[0]: \"offset\" puts the block beyond its arena's peak_bytes");
  CHECK(WrongPlacement(R"({"block":1,"arena":1,"offset":0,"size":1})") ==
        "placements[0]: \"arena\" is of an arena that isn't there");
  CHECK(WrongPlacement(R"({"block":1,"arena":0,"offset":-512,"size":1})") ==
        "placements[0]: \"offset\" is not a whole number");
}

TEST_CASE("an arena is what its placements make it") {
  CHECK(WrongArena(R"({"graph":3,"pool":1,"blocks":9223372036854775808,"peak_bytes":3072,)"
                   R"("lower_bound_bytes":0})") ==
        "arenas[0] has 9223372036854775808 blocks, but 2 are placed in it");
  CHECK(WrongArena(R"({"graph":3,"pool":1,"blocks":2,"peak_bytes":4096,"lower_bound_bytes":0})") ==
        "arenas[0] has peak_bytes 4096, but its highest block ends at 3072");
  CHECK(WrongArena(R"({"graph":3,"pool":1,"blocks":2,"peak_bytes":3072,)"
                   R"("lower_bound_bytes":4096})") ==
        "arenas[0]: \"lower_bound_bytes\" is above peak_bytes");
  CHECK(WrongArena(std::string(kArenas) + "," + kArenas) ==
        "arenas[1]: \"pool\" is that of another arena of the same graph");
  CHECK(WrongArena(R"({"pool":1,"blocks":2,"peak_bytes":3072,"lower_bound_bytes":0})") ==
        "arenas[0]: \"graph\" is missing");
  CHECK(Wrong(PlanText(kArenas, kPlacements, R"("sequence":[3],)")) ==
        "arenas[0]: \"graph\" isn't null, though the plan has a sequence");
}

TEST_CASE("the arenas together are memory that there can be") {
  std::string arenas;
  for (int i = 0; i < 65; ++i) {
    arenas += (i == 0 ? "" : ",") + std::string(R"({"graph":)") + std::to_string(i) +
              R"(,"blocks":1,"peak_bytes":72057594037927936,"lower_bound_bytes":0})";
  }
  CHECK(Wrong(PlanText(arenas, "")) == "the arenas are more memory than there can be");
}

TEST_CASE("what may be borrowed lies in an arena, in order, none over another") {
  const auto with = [](const std::string& ranges) {
    return PlanText(kArenas, kPlacements, R"("borrow":[)" + ranges + "],");
  };
  CHECK_FALSE(ParsePlan(PlanText(kArenas, kPlacements), "")->borrow);
  CHECK(ParsePlan(with(""), "")->borrow->empty());
  const auto plan = ParsePlan(
      with(R"({"arena":0,"offset":0,"size":512},{"arena":0,"offset":512,"size":1024})"), "");
  REQUIRE(plan);
  CHECK(plan->borrow == std::vector<BorrowedRange>{{0, 0, 512}, {0, 512, 1024}});
  CHECK(Wrong(with(R"({"arena":1,"offset":0,"size":512})")) ==
        "borrow[0]: \"arena\" is of an arena that isn't there");
  CHECK(Wrong(with(R"({"arena":0,"offset":3072,"size":1})")) ==
        "borrow[0]: \"offset\" puts the range beyond its arena's peak_bytes");
  CHECK(Wrong(with(R"({"arena":0,"offset":0,"size":512},{"arena":0,"offset":511,"size":1})")) ==
        "borrow[1]: \"offset\" is before the end of the range before it");
}

TEST_CASE("what is lent at a node names it, and where that ends") {
  const auto with = [](const std::string& ranges) {
    return PlanText(kArenas, kPlacements, R"("borrow_at":[)" + ranges + "],");
  };
  const auto plan = ParsePlan(with(R"({"arena":0,"offset":0,"size":512,"at":3,"until":5},)"
                                   R"({"arena":0,"offset":512,"size":512,"at":3,"until":null})"),
                              "");
  REQUIRE(plan);
  CHECK(plan->borrow_at ==
        std::vector<BorrowAt>{{{0, 0, 512}, NodeId(3u), NodeId(5u)}, {{0, 512, 512}, NodeId(3u)}});
  CHECK(Wrong(with(R"({"arena":0,"offset":0,"size":512})")) == "borrow_at[0]: \"at\" is missing");
}

TEST_CASE("another file than a plan of a trace is refused") {
  CHECK(Wrong("[]") == "the plan is not an object");
  CHECK(Wrong("{}") == "the plan: \"schema\" is not \"graphkit-plan\"");
  CHECK(Wrong(R"({"schema":"graphkit-plan","version":2})") == "the plan: \"version\" is not 1");
  CHECK(Wrong(R"({"schema":"graphkit-plan","version":1,"source":"lifetimes"})") ==
        "the plan: \"source\" is not \"trace\": it is a plan of a table");
  CHECK(Wrong(R"({"schema":"graphkit-plan","version":1,"source":"trace","arenas":7})") ==
        "the plan: \"arenas\" is not an array");
  CHECK(Wrong(PlanText("7", "")) == "arenas[0] is not an object");
}

}  // namespace
}  // namespace graphkit
