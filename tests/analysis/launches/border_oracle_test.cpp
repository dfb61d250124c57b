// Order across the border of graphs, against all runs that CUDA allows of random small programs.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "tests/analysis/checks/run.h"
#include "tests/analysis/launches/every_run.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr size_t kGraphs = 3;

struct Random {
  std::mt19937_64 engine;
  size_t Below(size_t count) { return static_cast<size_t>(engine() % count); }
  bool OneIn(size_t count) { return Below(count) == 0; }
};

// The first streams are the legacy one, and the default streams of each thread.
RunProgram RandomProgram(Random& random) {
  RunProgram program;
  program.threads = 1 + random.Below(3);
  program.streams = {RunStream::kLegacy};
  for (size_t i = 0; i < program.threads; ++i) program.streams.push_back(RunStream::kBlocking);
  program.streams.push_back(RunStream::kNonBlocking);
  program.streams.push_back(random.OneIn(2) ? RunStream::kBlocking : RunStream::kNonBlocking);
  program.events = 2;
  program.execs = 2;
  // Execs are updated to graphs of the same shape.
  const bool waits = random.OneIn(2), records = random.OneIn(2);
  for (size_t i = 0; i < kGraphs; ++i) {
    RunGraph& graph = program.graphs.emplace_back();
    if (waits) graph.waits = random.Below(program.events);
    if (records) graph.records = random.Below(program.events);
  }
  using enum HostCallKind;
  const std::vector<HostCallKind> kinds = {kLaunch,     kLaunch,    kLaunch, kWork,
                                           kWork,       kRecord,    kRecord, kWait,
                                           kSyncStream, kSyncEvent, kWait};
  for (int i = 0; i < 12; ++i) {
    HostCall call;
    call.kind = kinds[random.Below(kinds.size())];
    if (random.OneIn(20)) call.kind = random.OneIn(2) ? kSyncDevice : kFree;
    call.thread = random.Below(program.threads);
    call.event = random.Below(program.events);
    call.exec = random.Below(program.execs);
    call.graph = random.Below(kGraphs);
    call.stream = random.Below(program.streams.size());
    // Of the default streams of threads, a thread has its own.
    if (call.stream > 0 && call.stream <= program.threads) call.stream = 1 + call.thread;
    program.calls.push_back(call);
  }
  return program;
}

// What the nodes and the work of a program do to one block, beside when they do it.
struct Accesses {
  std::vector<Access> graphs;  // by graph: of its one memset
  std::vector<Access> calls;   // by call: of work, or the parameters that it sets
};

Accesses RandomAccesses(Random& random, const RunProgram& program) {
  const auto access = [&] {
    return Access{BlockId(0u), random.OneIn(2) ? AccessMode::kWrite : AccessMode::kRead,
                  512 * random.Below(4), 512 + 512 * random.Below(2)};
  };
  Accesses accesses;
  for (size_t i = 0; i < kGraphs; ++i) accesses.graphs.push_back(access());
  for (size_t i = 0; i < program.calls.size(); ++i) accesses.calls.push_back(access());
  return accesses;
}

// Makes the trace of a program.
struct Tracing {
  Tracing(const RunProgram& of, const Accesses& what) : program(of), does(what) {
    for (size_t i = 0; i < program.threads; ++i) threads.push_back(t.Thread(i == 0 ? "main" : ""));
    for (size_t i = 0; i < program.streams.size(); ++i) {
      streams.push_back(t.Stream("", i == 0                 ? StreamKind::kLegacyDefault
                                     : i <= program.threads ? StreamKind::kPerThreadDefault
                                                            : StreamKind::kCreated));
    }
    for (size_t i = 0; i < program.events; ++i) events.push_back(t.Event());
    t.Alloc({}, 4096);
    for (size_t i = 0; i < kGraphs; ++i) {
      const StreamId stream = streams.back();
      const auto add = [&](NodeKind kind, size_t event) {
        if (event != RunGraph::kNoEvent) t.EventNode(stream, kind, events[event]);
      };
      graphs.push_back(t.BeginCapture(stream));
      add(NodeKind::kEventWait, program.graphs[i].waits);
      nodes.push_back(t.Memset(stream, {does.graphs[i]}));
      add(NodeKind::kEventRecord, program.graphs[i].records);
      t.EndCapture(stream);
    }
    for (size_t i = 0; i < program.execs; ++i) execs.push_back(t.Instantiate(graphs[i]));
  }

  void Make(size_t at) {
    const HostCall& call = program.calls[at];
    t.SetThread(threads[call.thread]);
    t.SetStack({});
    const StreamId stream = streams[call.stream];
    const EventId event = events[call.event];
    switch (call.kind) {
      case HostCallKind::kLaunch:
        return t.Launch(execs[call.exec], stream);
      case HostCallKind::kWork:
        t.SetStack(t.Stack({{"Work", "/src/work.cpp", static_cast<uint32_t>(at + 1)}}));
        return t.Work(stream, NodeKind::kMemset, {does.calls[at]});
      case HostCallKind::kRecord:
        return t.Record(event, stream);
      case HostCallKind::kWait:
        return t.Wait(stream, event);
      case HostCallKind::kSyncStream:
        return t.Synchronize(stream);
      case HostCallKind::kSyncEvent:
        return t.Synchronize(event);
      case HostCallKind::kSyncDevice:
        return t.Synchronize();
      case HostCallKind::kFree:
        return t.Free(t.Alloc({}, 64));
      case HostCallKind::kUpdate:
        return t.Update(execs[call.exec], graphs[call.graph]);
      case HostCallKind::kChange:
        return t.Change(nodes[call.exec], execs[call.exec], NodeChangeKind::kParams,
                        {does.calls[at]});
    }
  }

  Ran Build() {
    for (size_t i = 0; i < program.calls.size(); ++i) Make(i);
    Ran trace = t.Build();
    for (size_t i = 0; i < streams.size(); ++i)
      trace.streams[i].non_blocking = program.streams[i] == RunStream::kNonBlocking;
    return trace;
  }

  const RunProgram& program;
  const Accesses& does;
  TraceBuilder t;
  std::vector<ThreadId> threads;
  std::vector<StreamId> streams;
  std::vector<EventId> events;
  std::vector<GraphId> graphs;
  std::vector<NodeId> nodes;  // by graph
  std::vector<ExecId> execs;
};

// "1:launch(exec 0, stream 3)", a call a line.
std::string TextOf(const RunProgram& program) {
  constexpr const char* kNames[] = {"launch",     "work",        "record", "wait",   "sync-stream",
                                    "sync-event", "sync-device", "free",   "update", "change"};
  std::string text = "streams";
  for (const RunStream stream : program.streams)
    text += stream == RunStream::kLegacy ? " L" : stream == RunStream::kBlocking ? " B" : " N";
  for (const RunGraph& graph : program.graphs) {
    text += ", graph";
    if (graph.waits != RunGraph::kNoEvent) text += " waits for " + std::to_string(graph.waits);
    if (graph.records != RunGraph::kNoEvent) text += " records " + std::to_string(graph.records);
  }
  for (const HostCall& call : program.calls) {
    text += "\n  thread " + std::to_string(call.thread) + ": " +
            kNames[static_cast<size_t>(call.kind)] + " stream " + std::to_string(call.stream) +
            " event " + std::to_string(call.event) + " exec " + std::to_string(call.exec) +
            " graph " + std::to_string(call.graph);
  }
  return text;
}

TEST_CASE("launches and work are ordered where no run of the program has them at once") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  Random random{std::mt19937_64(seed)};
  size_t unordered = 0, ordered = 0;
  for (int round = 0; round < RandomRounds(1000); ++round) {
    CAPTURE(round);
    const RunProgram program = RandomProgram(random);
    INFO(TextOf(program));
    const Accesses accesses = RandomAccesses(random, program);
    const Ran trace = Tracing(program, accesses).Build();
    const LaunchOrder order(trace);
    const std::vector<Submission> all = AllSubmissions(trace);
    for (const bool in_order : {false, true}) {
      CAPTURE(in_order);
      const auto overlap = MayOverlap(program, in_order);
      REQUIRE(overlap.size() == all.size());
      for (size_t b = 1; b < all.size(); ++b) {
        for (size_t a = 0; a < b; ++a) {
          CAPTURE(a);
          CAPTURE(b);
          const bool before =
              in_order ? order.BeforeByThreads(all[a], all[b]) : order.Before(all[a], all[b]);
          CHECK(before == !overlap[a][b]);
          ++(overlap[a][b] ? unordered : ordered);
        }
      }
    }
  }
  CHECK(unordered > 1000);
  CHECK(ordered > 1000);
}

// A launch or work, as it was submitted.
struct Submitted {
  Access access;
  size_t graph = kGraphs;  // that a launch ran
};

std::vector<Submitted> SubmittedBy(const RunProgram& program, const Accesses& accesses) {
  std::vector<Submitted> submitted;
  std::vector<Submitted> execs;
  for (size_t i = 0; i < program.execs; ++i) execs.push_back({accesses.graphs[i], i});
  for (size_t i = 0; i < program.calls.size(); ++i) {
    const HostCall& call = program.calls[i];
    if (call.kind == HostCallKind::kUpdate)
      execs[call.exec] = {accesses.graphs[call.graph], call.graph};
    if (call.kind == HostCallKind::kChange) execs[call.exec].access = accesses.calls[i];
    if (call.kind == HostCallKind::kWork) submitted.push_back({accesses.calls[i]});
    if (call.kind == HostCallKind::kLaunch) submitted.push_back(execs[call.exec]);
  }
  return submitted;
}

// Which submissions race: by the check that finds them.
struct Races {
  explicit Races(const RunProgram& program, const std::vector<Submitted>& of)
      : submitted(of), overlap{MayOverlap(program, false), MayOverlap(program, true)} {}

  // `in_order`: also where threads make their calls one after another.
  bool Race(size_t a, size_t b, bool in_order) const {
    const Submitted &x = submitted[a], &y = submitted[b];
    if (!overlap[in_order][a][b]) return false;
    if (x.graph == kGraphs && y.graph == kGraphs && !OfGraphs(a, x.access, y.access)) return false;
    const bool writes = x.access.mode == AccessMode::kWrite || y.access.mode == AccessMode::kWrite;
    return writes && Overlap(x.access, y.access) == Ternary::kYes;
  }
  // Two pieces of work are judged after the first launch, where they share bytes that some launch
  // uses.
  bool OfGraphs(size_t first, const Access& x, const Access& y) const {
    const Bytes begin = std::max(x.offset, y.offset);
    const Bytes end = std::min(x.offset + x.length, y.offset + y.length);
    bool launched = false, used = false;
    for (size_t i = 0; i < submitted.size(); ++i) {
      if (submitted[i].graph == kGraphs) continue;
      const Access& own = submitted[i].access;
      launched = launched || i < first;
      used = used || std::max(begin, own.offset) < std::min(end, own.offset + own.length);
    }
    return launched && used;
  }
  // Of two launches that both write shared-workspace judges.
  bool BothLaunched(size_t a, size_t b) const {
    return submitted[a].graph != kGraphs && submitted[b].graph != kGraphs &&
           submitted[a].access.mode == AccessMode::kWrite &&
           submitted[b].access.mode == AccessMode::kWrite;
  }
  bool Any(bool in_order) const {
    for (size_t b = 1; b < submitted.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (Race(a, b, in_order)) return true;
      }
    }
    return false;
  }

  // "0-3! 1-2", the pairs that race; !: also where threads are in order.
  std::string Text() const {
    std::string text = "accesses";
    for (const Submitted& one : submitted) {
      text += (one.access.mode == AccessMode::kWrite ? " w" : " r") +
              std::to_string(one.access.offset) + "+" + std::to_string(one.access.length) +
              (one.graph == kGraphs ? "" : " of graph " + std::to_string(one.graph)) + ",";
    }
    text += " races";
    for (size_t b = 1; b < submitted.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (Race(a, b, false))
          text += " " + std::to_string(a) + "-" + std::to_string(b) + (Race(a, b, true) ? "!" : "");
      }
    }
    return text;
  }

  std::vector<Submitted> submitted;
  std::vector<std::vector<bool>> overlap[2];
};

// The two that a finding is about: places among all submissions, by its evidence.
std::vector<size_t> SidesOf(const Finding& finding, const Ran& trace) {
  const std::vector<Submission> all = AllSubmissions(trace);
  std::vector<size_t> sides;
  for (const Evidence& evidence : finding.evidence) {
    for (size_t i = 0; i < all.size(); ++i) {
      const bool launch =
          !all[i].work && evidence.text.starts_with("launch " + std::to_string(all[i].index) + " ");
      const bool work = all[i].work && evidence.stack.valid() &&
                        trace.works[all[i].index].stack == evidence.stack;
      if (launch || work) sides.push_back(i);
    }
  }
  return sides;
}

// Compares the findings on a program with its races, and counts them. `complete`: if there is a
// race, one is to be found, by one of the two checks: a race may stand for others.
size_t CheckFindings(const RunProgram& program, const Accesses& accesses, bool complete) {
  const Ran trace = Tracing(program, accesses).Build();
  const Races races(program, SubmittedBy(program, accesses));
  INFO(races.Text());
  std::vector<Finding> found = Run("border-order", trace);
  const size_t border = found.size();
  std::ranges::move(Run("shared-workspace", trace), std::back_inserter(found));
  bool error = false;
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(found[i].message);
    const std::vector<size_t> sides = SidesOf(found[i], trace);
    REQUIRE(sides.size() == 2);
    const auto [a, b] = std::minmax(sides[0], sides[1]);
    const bool is_error = found[i].severity == Severity::kError;
    CHECK(races.Race(a, b, is_error));
    CHECK(races.BothLaunched(a, b) == (i >= border));
    error = error || is_error;
  }
  if (complete) {
    CHECK(found.empty() == !races.Any(false));
    CHECK(error == races.Any(true));
  }
  return found.size();
}

TEST_CASE("border-order and shared-workspace find what races in some run, and nothing else") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  Random random{std::mt19937_64(seed)};
  size_t findings = 0;
  for (int round = 0; round < RandomRounds(1000); ++round) {
    CAPTURE(round);
    RunProgram program = RandomProgram(random);
    // Nodes with several sets of parameters aren't judged: then some races aren't found.
    const size_t how = random.Below(3);
    const HostCallKind kind = how == 0 ? HostCallKind::kChange : HostCallKind::kUpdate;
    for (HostCall& call : program.calls) {
      if (how < 2 && call.kind == HostCallKind::kSyncStream && random.OneIn(2)) call.kind = kind;
    }
    const Accesses accesses = RandomAccesses(random, program);
    INFO(TextOf(program));
    findings += CheckFindings(program, accesses, how != 0);
  }
  CHECK(findings > 100);
}

}  // namespace
}  // namespace graphkit
