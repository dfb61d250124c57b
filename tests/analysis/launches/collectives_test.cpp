#include "libgraphkit/analysis/launches/collectives.h"

#include <doctest/doctest.h>

#include <random>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/collective_steps.h"
#include "libgraphkit/model/names.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

using enum CollectiveKind;
constexpr ElementType kType = ElementType::kFp32;

// A rank's trace, call by call.
struct Rank {
  TraceBuilder t;
  StreamId a = t.Stream("a");
  CommunicatorId whole, half;

  explicit Rank(uint32_t rank)
      : whole(t.Communicator(3, rank, 7)), half(t.Communicator(3, rank, 8)) {}

  void Run(CollectiveKind kind, uint64_t count, int32_t peer = -1) {
    t.Kernel(a, NameOf(kind));
    t.Collect(whole, kind, count, kType, peer);
  }
  void RunOn(CommunicatorId communicator, CollectiveKind kind) {
    t.Kernel(a, NameOf(kind));
    t.Collect(communicator, kind, 4, kType);
  }
  GraphId Capture(std::initializer_list<std::pair<CollectiveKind, uint64_t>> operations) {
    const GraphId graph = t.BeginCapture(a, "step");
    for (const auto& [kind, count] : operations) Run(kind, count);
    t.EndCapture(a);
    return graph;
  }
  void Launch(GraphId graph, int times = 1) {
    const ExecId exec = t.Instantiate(graph);
    for (int i = 0; i < times; ++i) t.Launch(exec, a);
  }
};

std::vector<RankDifference> Compare(std::vector<Rank>& ranks, bool complete = true,
                                    bool all_work = false) {
  std::vector<RankCollectives> made;
  for (Rank& rank : ranks) {
    Ran trace = rank.t.Build();
    trace.process.all_work = all_work;
    made.push_back(Facts(trace).collectives());
  }
  std::vector<RankTrace> traces;
  for (size_t i = 0; i < made.size(); ++i) {
    traces.push_back({"run/rank" + std::to_string(i) + ".json", &made[i], complete});
  }
  return CompareCollectives(traces);
}

std::vector<Rank> Ranks(uint32_t count) {
  std::vector<Rank> ranks;
  for (uint32_t i = 0; i < count; ++i) ranks.emplace_back(i);
  return ranks;
}

TEST_CASE("ranks that run the same differ in nothing, however often they launch it") {
  std::vector<Rank> ranks = Ranks(3);
  for (Rank& rank : ranks) {
    const GraphId graph = rank.Capture({{kAllReduce, 8}, {kAllGather, 4}});
    rank.Launch(graph, 5);
  }
  CHECK(Compare(ranks).empty());
}

TEST_CASE("the first operation that differs is named, with what the other rank runs there") {
  std::vector<Rank> ranks = Ranks(2);
  ranks[0].Launch(ranks[0].Capture({{kAllReduce, 8}, {kAllGather, 4}, {kBroadcast, 2}}));
  ranks[1].Launch(ranks[1].Capture({{kAllReduce, 8}, {kBroadcast, 2}, {kAllGather, 4}}));
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 1);
  CHECK(found[0].trace == 1);
  CHECK(found[0].finding.check == "collective-order");
  CHECK(found[0].finding.severity == Severity::kError);
  CHECK(found[0].finding.graph == GraphId(0u));
  CHECK(found[0].finding.nodes == std::vector{NodeId(1u)});
  CHECK(found[0].finding.message ==
        "rank 1 (rank1.json) runs broadcast of 2 fp32 as operation 2 on communicator 0x7 of 3 "
        "ranks, where rank 0 (rank0.json) runs all_gather of 4 fp32");
}

TEST_CASE("another count is told, and what follows is still compared") {
  std::vector<Rank> ranks = Ranks(2);
  ranks[0].Launch(ranks[0].Capture({{kAllReduce, 8}, {kAllGather, 4}, {kAllReduce, 8}}));
  ranks[1].Launch(ranks[1].Capture({{kAllReduce, 8}, {kAllGather, 5}, {kAllGather, 8}}));
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 2);
  CHECK(found[0].finding.check == "collective-size");
  CHECK(found[0].finding.message ==
        "rank 1 (rank1.json) runs all_gather of 5 fp32 as operation 2 on communicator 0x7 of 3 "
        "ranks, where rank 0 (rank0.json) runs all_gather of 4 fp32");
  CHECK(found[1].finding.check == "collective-order");
}

TEST_CASE("graphs that are launched in another order differ") {
  std::vector<Rank> ranks = Ranks(2);
  for (uint32_t i = 0; i < 2; ++i) {
    const GraphId one = ranks[i].Capture({{kAllReduce, 8}});
    const GraphId two = ranks[i].Capture({{kAllGather, 4}});
    ranks[i].Launch(i == 0 ? one : two, 3);
    ranks[i].Launch(i == 0 ? two : one, 3);
  }
  CHECK(Compare(ranks).size() == 1);
}

TEST_CASE("ranks that both send before they receive wait for each other") {
  // 's' send, 'r' receive, '(' and ')' a group.
  const auto found = [](const char* zero, const char* one) {
    std::vector<Rank> ranks = Ranks(2);
    for (uint32_t i = 0; i < 2; ++i) {
      const GraphId graph = ranks[i].t.BeginCapture(ranks[i].a, "step");
      bool grouped = false, begun = false;
      for (const char* at = i == 0 ? zero : one; *at != 0; ++at) {
        if (*at == '(' || *at == ')') {
          grouped = *at == '(', begun = false;
          continue;
        }
        if (!grouped || !begun) ranks[i].t.Kernel(ranks[i].a, "exchange");
        begun = true;
        ranks[i].t.Collect(ranks[i].whole, *at == 's' ? kSend : kReceive, 4, kType, i == 0 ? 1 : 0);
      }
      ranks[i].t.EndCapture(ranks[i].a);
      ranks[i].Launch(graph, 3);
    }
    return Compare(ranks);
  };
  CHECK(found("sr", "rs").empty());
  CHECK(found("srsr", "rsrs").empty());
  CHECK(found("(sr)", "(sr)").empty());
  CHECK(found("(sr)", "(rs)").empty());
  const auto stuck = found("sr", "sr");
  REQUIRE(stuck.size() == 1);
  CHECK(stuck[0].finding.check == "collective-order");
  CHECK(stuck[0].finding.severity == Severity::kError);
  CHECK(stuck[0].finding.message ==
        "rank 0 (rank0.json) waits in send of 4 fp32 to rank 1 for rank 1 (rank1.json), which "
        "waits in send of 4 fp32 to rank 0: neither goes on");
  CHECK(found("rs", "rs").size() == 1);
  CHECK(found("srrs", "rssr").empty());
  CHECK(found("srsr", "rssr").size() == 1);
}

TEST_CASE("a rank that stops early is told, unless its trace is cut off") {
  const auto make = [] {
    std::vector<Rank> ranks = Ranks(2);
    for (uint32_t i = 0; i < 2; ++i) {
      ranks[i].Launch(ranks[i].Capture({{kAllReduce, 8}}), i == 0 ? 4 : 3);
    }
    return ranks;
  };
  std::vector<Rank> ranks = make(), cut = make();
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.message ==
        "rank 1 (rank1.json) runs 3 operations on communicator 0x7 of 3 ranks and no more, where "
        "rank 0 (rank0.json) goes on with all_reduce of 8 fp32");
  CHECK(Compare(cut, false).empty());
}

TEST_CASE("of several ranks the one that differs from most is named") {
  std::vector<Rank> ranks = Ranks(3);
  for (uint32_t i = 0; i < 3; ++i)
    ranks[i].Launch(ranks[i].Capture({{kAllReduce, i == 0 ? 9u : 8u}}));
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 1);
  CHECK(found[0].trace == 0);
}

TEST_CASE("sends are compared with the receives of the rank that they go to") {
  for (const uint64_t received : {16u, 8u}) {
    std::vector<Rank> ranks = Ranks(3);
    for (Rank& rank : ranks) rank.t.BeginCapture(rank.a, "step");
    ranks[0].Run(kSend, 16, 2);
    ranks[0].Run(kSend, 4, 1);
    ranks[1].Run(kReceive, 4, 0);
    ranks[2].Run(kReceive, received, 0);
    for (Rank& rank : ranks) rank.t.EndCapture(rank.a);
    const auto found = Compare(ranks);
    CHECK(found.size() == (received == 16 ? 0 : 1));
    if (found.empty()) continue;
    CHECK(found[0].trace == 2);
    CHECK(found[0].finding.check == "collective-size");
  }
}

TEST_CASE("operations of two communicators that cross each other are a warning") {
  std::vector<Rank> ranks = Ranks(2);
  for (uint32_t i = 0; i < 2; ++i) {
    Rank& rank = ranks[i];
    const GraphId graph = rank.t.BeginCapture(rank.a, "step");
    rank.RunOn(i == 0 ? rank.whole : rank.half, kAllReduce);
    rank.RunOn(i == 0 ? rank.half : rank.whole, kAllReduce);
    rank.t.EndCapture(rank.a);
    rank.Launch(graph);
  }
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.check == "collective-order");
  CHECK(found[0].finding.severity == Severity::kWarning);
}

TEST_CASE("what differs on one communicator isn't told again for two") {
  std::vector<Rank> ranks = Ranks(2);
  for (uint32_t i = 0; i < 2; ++i) {
    Rank& rank = ranks[i];
    const CommunicatorId turned = rank.t.Communicator(2, 1 - i, 9);
    const GraphId graph = rank.t.BeginCapture(rank.a, "step");
    rank.RunOn(rank.whole, kAllReduce);
    rank.RunOn(turned, i == 0 ? kAllGather : kReduceScatter);
    rank.t.EndCapture(rank.a);
    rank.Launch(graph);
  }
  CHECK(Compare(ranks).size() == 1);
}

// Each launches a step; the second rank gathers outside of graphs what the first one's gathers.
std::vector<Rank> OneOutside() {
  std::vector<Rank> ranks = Ranks(2);
  for (Rank& rank : ranks) rank.Launch(rank.Capture({{kAllReduce, 8}}));
  ranks[0].Launch(ranks[0].Capture({{kAllGather, 4}}));
  ranks[1].t.Work(ranks[1].a, "ncclAllGather");
  ranks[1].t.Collect(ranks[1].whole, kAllGather, 4, kType);
  return ranks;
}

TEST_CASE("what runs in a graph on one rank has to run in one on the others") {
  std::vector<Rank> ranks = OneOutside();
  const auto found = Compare(ranks, true, true);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.message.ends_with("runs all_gather of 4 fp32 in a graph"));
}

TEST_CASE("work outside of graphs counts only where all of it was recorded") {
  std::vector<Rank> ranks = Ranks(2);
  for (Rank& rank : ranks) rank.Launch(rank.Capture({{kAllReduce, 8}}));
  ranks[1].t.Work(ranks[1].a, "ncclAllGather");
  ranks[1].t.Collect(ranks[1].whole, kAllGather, 4, kType);
  std::vector<Rank> same = Ranks(2);
  for (Rank& rank : same) rank.Launch(rank.Capture({{kAllReduce, 8}}));
  same[1].t.Work(same[1].a, "ncclAllGather");
  same[1].t.Collect(same[1].whole, kAllGather, 4, kType);
  CHECK(Compare(ranks).empty());
  CHECK(Compare(same, true, true).size() == 1);
}

TEST_CASE("operations of child graphs stand where the nodes that hold them do") {
  TraceBuilder t;
  const StreamId a = t.Stream();
  const CommunicatorId c = t.Communicator(2, 0, 7);
  const auto run = [&](CollectiveKind kind) {
    t.Kernel(a, "nccl");
    t.Collect(c, kind, 1, kType);
  };
  const GraphId inner = t.BeginCapture(a);
  t.Kernel(a, "compute");
  t.EndCapture(a);
  t.BeginCapture(a);
  run(kAllReduce);
  const NodeId holder = t.ChildGraph(a, inner);
  run(kBroadcast);
  t.EndCapture(a);
  Ran trace = t.Build();
  // The tracer's output for the embedded kernel of a captured collective.
  for (const Node& node : trace.nodes) {
    if (trace[node.graph].parent != holder) continue;
    trace.collectives.push_back({node.seq, c, kAllGather, kType, 1});
  }
  std::ranges::sort(trace.collectives, {}, &Collective::seq);
  const RankCollectives made = Facts(trace).collectives();
  std::vector<CollectiveKind> kinds;
  for (const RankOperation& operation : made.programs.back().operations) {
    kinds.push_back(operation.what.kind);
  }
  CHECK(kinds == std::vector{kAllReduce, kAllGather, kBroadcast});
}

// A conditional of two bodies with an operation each, and one after it.
Rank WithBodies(uint32_t number, ConditionalType type, std::initializer_list<CollectiveKind> bodies,
                bool after_first = false) {
  Rank rank(number);
  const StreamId inside = rank.t.Stream("inside");
  const GraphId graph = rank.t.BeginCapture(rank.a, "step");
  if (after_first) rank.Run(kAllGather, 4);
  const NodeId branch = rank.t.Conditional(rank.a, type);
  for (const CollectiveKind kind : bodies) {
    rank.t.BeginCaptureToGraph(inside, rank.t.Body(branch));
    rank.t.Kernel(inside, NameOf(kind));
    rank.t.Collect(rank.whole, kind, 8, kType);
    rank.t.EndCapture(inside);
  }
  if (!after_first) rank.Run(kAllGather, 4);
  rank.t.EndCapture(rank.a);
  rank.Launch(graph, 2);
  return rank;
}

TEST_CASE("operations in bodies of conditionals stand where their node does, by body") {
  Rank rank = WithBodies(0, ConditionalType::kIf, {kAllReduce, kBroadcast});
  const Ran trace = rank.t.Build();
  const RankCollectives made = Facts(trace).collectives();
  REQUIRE(made.programs.size() == 1);
  std::vector<std::pair<CollectiveKind, std::string>> operations;
  for (const RankOperation& operation : made.programs[0].operations) {
    operations.emplace_back(operation.what.kind, operation.body);
  }
  CHECK(operations == std::vector<std::pair<CollectiveKind, std::string>>{
                          {kAllReduce, "if"}, {kBroadcast, "else"}, {kAllGather, ""}});
}

TEST_CASE("what differs in a conditional's body is a warning, whether it runs isn't known") {
  std::vector<Rank> alike;
  for (uint32_t i = 0; i < 2; ++i) {
    alike.push_back(WithBodies(i, ConditionalType::kSwitch, {kAllReduce, kBroadcast}));
  }
  CHECK(Compare(alike).empty());

  std::vector<Rank> ranks;
  ranks.push_back(WithBodies(0, ConditionalType::kSwitch, {kAllReduce, kBroadcast}));
  ranks.push_back(WithBodies(1, ConditionalType::kSwitch, {kAllReduce, kAllReduce}));
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.severity == Severity::kWarning);
  CHECK(found[0].finding.message ==
        "rank 1 (rank1.json) runs all_reduce of 8 fp32 in a conditional's body (case 1) as "
        "operation 2 on communicator 0x7 of 3 ranks, where rank 0 (rank0.json) runs broadcast of "
        "8 fp32 in a conditional's body (case 1)");
}

TEST_CASE("an operation of a body is another one than the same outside of it") {
  std::vector<Rank> ranks;
  ranks.push_back(WithBodies(0, ConditionalType::kWhile, {kAllReduce}));
  ranks.push_back(Rank(1));
  ranks[1].Launch(ranks[1].Capture({{kAllReduce, 8}, {kAllGather, 4}}), 2);
  const auto found = Compare(ranks);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.check == "collective-order");
  CHECK(found[0].finding.severity == Severity::kWarning);
  CHECK(found[0].finding.message.find("in a conditional's body (while)") != std::string::npos);

  ranks.clear();
  ranks.push_back(WithBodies(0, ConditionalType::kIf, {kAllReduce}));
  ranks.push_back(WithBodies(1, ConditionalType::kIf, {kAllReduce}, true));
  CHECK(Compare(ranks).size() == 1);
}

// Programs of few kinds and sizes, so that ranks are alike for long.
RankCollectives RandomRank(std::mt19937_64& random) {
  const auto pick = [&](uint64_t end) { return static_cast<uint32_t>(random() % end); };
  RankCollectives rank;
  rank.communicators = {{.key = 1, .ranks = 2}, {.key = 2, .ranks = 2}};
  rank.places.emplace_back();
  rank.works = pick(2) == 0;
  for (uint32_t i = 0; i < 1 + pick(4); ++i) {
    RankProgram program{.graph = pick(4) == 0 ? GraphId() : GraphId(i)};
    for (uint32_t k = 0; k < pick(4); ++k) {
      program.operations.push_back({{.communicator = CommunicatorId(pick(2)),
                                     .kind = static_cast<CollectiveKind>(pick(2)),
                                     .count = pick(6) == 0 ? 2u : 1u},
                                    {},
                                    0,
                                    pick(4) == 0 ? "if" : ""});
    }
    rank.programs.push_back(std::move(program));
  }
  for (uint32_t i = 0; i < pick(5); ++i) {
    rank.executed.push_back({pick(rank.programs.size()), 1 + pick(4)});
  }
  return rank;
}

// The same sequence split into other programs and runs: as another rank may have captured it.
RankCollectives Split(const RankCollectives& rank, std::mt19937_64& random) {
  RankCollectives split = rank;
  split.executed.clear();
  for (const RankRun& run : rank.executed) {
    for (uint32_t left = run.times; left > 0;) {
      const uint32_t now = 1 + static_cast<uint32_t>(random() % left);
      split.executed.push_back({run.program, now});
      left -= now;
    }
  }
  const bool change = random() % 2 == 0 && !split.programs.empty();
  if (change) {
    RankProgram& program = split.programs[random() % split.programs.size()];
    if (!program.operations.empty()) {
      RankOperation& operation = program.operations[random() % program.operations.size()];
      Collective& what = operation.what;
      if (random() % 4 == 0) {
        operation.body = "while";
      } else if (random() % 2 == 0) {
        what.count = 3;
      } else {
        what.kind = kBroadcast;
      }
    }
  }
  if (random() % 4 == 0 && !split.executed.empty()) split.executed.pop_back();
  return split;
}

// All of it written out, and compared step by step.
StepsCompared SlowCompare(const RankCollectives& a, const RankCollectives& b, bool works,
                          CommunicatorId communicator) {
  const auto written_out = [&](const RankCollectives& rank) {
    std::vector<CollectiveStep> steps;
    for (const RankRun& run : rank.executed) {
      const RankProgram& program = rank.programs[run.program];
      for (uint32_t i = 0; i < run.times; ++i) {
        for (const RankOperation& operation : program.operations) {
          if (operation.what.communicator != communicator) continue;
          if (!program.graph && !works) continue;
          steps.push_back({operation.what, program.graph.valid(), &operation});
        }
      }
    }
    return steps;
  };
  const auto of_a = written_out(a), of_b = written_out(b);
  StepsCompared found;
  for (size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
    const bool both = i < of_a.size() && i < of_b.size();
    if (!both || !of_a[i].SameOperation(of_b[i])) {
      found.order = StepDifference{.index = i};
      break;
    }
    if (!found.size && !of_a[i].SameSize(of_b[i])) found.size = StepDifference{.index = i};
  }
  return found;
}

TEST_CASE("random ranks differ where all of their operations, written out, do") {
  const uint64_t seed = RandomSeed();
  std::mt19937_64 random(seed);
  CAPTURE(seed);
  int differed = 0;
  for (int round = 0; round < RandomRounds(5'000); ++round) {
    CAPTURE(round);
    const RankCollectives a = RandomRank(random);
    const RankCollectives b = random() % 3 == 0 ? RandomRank(random) : Split(a, random);
    const bool works = a.works && b.works;
    const CommunicatorId communicator(random() % 2);
    const CollectiveFilter filter = [&](const Collective& what) -> std::optional<Collective> {
      if (what.communicator != communicator) return std::nullopt;
      return what;
    };
    const StepsCompared found =
        CompareSteps({a, a.executed, works, filter}, {b, b.executed, works, filter});
    const StepsCompared slow = SlowCompare(a, b, works, communicator);
    REQUIRE(found.order.has_value() == slow.order.has_value());
    REQUIRE(found.size.has_value() == slow.size.has_value());
    if (found.order) REQUIRE(found.order->index == slow.order->index);
    if (found.size) REQUIRE(found.size->index == slow.size->index);
    differed += found.order || found.size;
  }
  CHECK(differed > 500);
}

}  // namespace
}  // namespace graphkit
