// The order of launches against a search through all that was submitted.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "libgraphkit/ran/launch_order.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

// Each submission, wait and record as a step that starts after some earlier ones have ended.
struct SlowOrder {
  explicit SlowOrder(const Ran& of)
      : trace(of),
        last(of.streams.size(), kNone),
        events(of.events.size(), kNone),
        execs(of.execs.size(), kNone),
        hosts(of.threads.size() + 1, kNone) {
    size_t op = 0;
    for (const Submission at : AllSubmissions(trace)) {
      const Seq seq = at.work ? trace.works[at.index].seq : trace.launches[at.index].seq;
      for (; op < trace.stream_ops.size() && trace.stream_ops[op].seq < seq; ++op) {
        Take(trace.stream_ops[op]);
      }
      const auto submit = [&](const auto& row, size_t before) {
        Submit(row.stream, row.thread, before);
        submitted.push_back(last[row.stream.index()]);
      };
      if (at.work) {
        submit(trace.works[at.index], kNone);
      } else {
        const Launch& launch = trace.launches[at.index];
        submit(launch, execs[launch.exec.index()]);
        execs[launch.exec.index()] = submitted.back();
      }
    }
  }

  // Of all submissions.
  bool Before(size_t a, size_t b) const {
    std::vector<bool> seen(steps.size());
    std::vector<size_t> open = {submitted[b]};
    while (!open.empty()) {
      const size_t step = open.back();
      open.pop_back();
      for (const size_t earlier : steps[step]) {
        if (earlier == submitted[a]) return true;
        if (!seen[earlier]) open.push_back(earlier);
        seen[earlier] = true;
      }
    }
    return false;
  }

  static constexpr size_t kNone = ~size_t{0};

  // The first thread isn't named by most records.
  size_t& HostOf(ThreadId thread) { return hosts[thread.valid() ? thread.index() : 0]; }

  void Add(size_t* into, std::vector<size_t> after) {
    after.push_back(*into);
    std::erase(after, kNone);
    *into = steps.size();
    steps.push_back(std::move(after));
  }

  std::vector<size_t> Legacy(StreamId stream) const {
    std::vector<size_t> after;
    const Stream& own = trace.streams[stream.index()];
    for (size_t i = 0; i < trace.streams.size() && !own.non_blocking; ++i) {
      const Stream& other = trace.streams[i];
      const bool legacy =
          own.kind == StreamKind::kLegacyDefault || other.kind == StreamKind::kLegacyDefault;
      if (legacy && !other.non_blocking && other.device == own.device) after.push_back(last[i]);
    }
    return after;
  }

  void Submit(StreamId stream, ThreadId thread, size_t other = kNone) {
    std::vector<size_t> after = Legacy(stream);
    after.push_back(HostOf(thread));
    after.push_back(other);
    Add(&last[stream.index()], after);
  }

  void Take(const StreamOp& op) {
    switch (op.kind) {
      case StreamOpKind::kEventRecord:
        Submit(op.stream, op.thread);
        events[op.event.index()] = last[op.stream.index()];
        return;
      case StreamOpKind::kEventWait: {
        std::vector<size_t> after = Legacy(op.stream);
        after.push_back(events[op.event.index()]);
        return Add(&last[op.stream.index()], after);
      }
      case StreamOpKind::kStreamSync:
        Add(&last[op.stream.index()], Legacy(op.stream));
        return Add(&HostOf(op.thread), {last[op.stream.index()]});
      case StreamOpKind::kEventSync:
        return Add(&HostOf(op.thread), {events[op.event.index()]});
      default:
        return Add(&HostOf(op.thread), last);
    }
  }

  const Ran& trace;
  std::vector<std::vector<size_t>> steps = {};     // by step: earlier ones
  std::vector<size_t> last, events, execs, hosts;  // steps
  std::vector<size_t> submitted = {};
};

// Streams of two devices, legacy and non-blocking ones among them, events and threads.
Ran RandomLaunches(std::mt19937_64& random, uint32_t streams) {
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  TraceBuilder t;
  for (const char* name : {"main", "other", "third"}) t.Thread(name);
  std::vector<StreamId> on;
  for (uint32_t i = 0; i < streams; ++i) {
    on.push_back(t.Stream("", i < 2 ? StreamKind::kLegacyDefault : StreamKind::kCreated));
  }
  std::vector<EventId> events = {t.Event(), t.Event(), t.Event()};
  const GraphId graph = t.BeginCapture(on[2]);
  t.Kernel(on[2]);
  t.EndCapture(on[2]);
  const std::vector<ExecId> execs = {t.Instantiate(graph), t.Instantiate(graph),
                                     t.Instantiate(graph)};
  for (int i = 0; i < 60; ++i) {
    const StreamId stream = on[below(streams)];
    const EventId event = events[below(3)];
    t.SetThread(ThreadId(below(3)));
    switch (below(9)) {
      case 0:
        t.Record(event, stream);
        break;
      case 1:
      case 2:
        t.Wait(stream, event);
        break;
      case 3:
        t.Synchronize(stream);
        break;
      case 4:
        t.Synchronize(event);
        break;
      case 5:
        if (below(4) == 0) t.Synchronize();
        break;
      case 6:
        t.Work(stream, "work");
        break;
      default:
        t.Launch(execs[below(3)], stream);
    }
  }
  Ran trace = t.Build();
  for (uint32_t i = 0; i < streams; ++i) {
    trace.streams[i].device = static_cast<int16_t>(i % 2);
    trace.streams[i].non_blocking = i > 1 && i % 3 == 0;
  }
  return trace;
}

TEST_CASE("launches are ordered as a search through all submissions has it") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < RandomRounds(40); ++round) {
    CAPTURE(round);
    const Ran trace = RandomLaunches(random, round % 2 == 0 ? 5 : 40);
    const LaunchOrder order(trace);
    const SlowOrder slow(trace);
    const std::vector<Submission> all = AllSubmissions(trace);
    for (size_t b = 1; b < all.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(order.Before(all[a], all[b]) == slow.Before(a, b));
      }
    }
  }
}

// A copy on a; b waits for it, and then runs a function of the host, or doesn't; a launch on c.
TEST_CASE("a function of the host may order what comes before it with later submissions") {
  for (const bool called : {false, true}) {
    TraceBuilder t;
    const StreamId a = t.Stream("a"), b = t.Stream("b"), c = t.Stream("c");
    const GraphId graph = t.BeginCapture(c);
    t.Kernel(c);
    t.EndCapture(c);
    const ExecId exec = t.Instantiate(graph);
    t.Work(a, NodeKind::kMemcpy);
    t.Order(a, b);
    t.Work(b, called ? NodeKind::kHost : NodeKind::kMemset);
    t.Work(a, NodeKind::kMemset);
    t.Launch(exec, c);
    const Ran trace = t.Build();
    const LaunchOrder order(trace);
    const Submission copy{0, true}, later{2, true}, launch{0};
    CHECK_FALSE(order.Before(copy, launch));
    CHECK(order.BeforeByThreads(copy, launch) == called);
    CHECK_FALSE(order.BeforeByThreads(later, launch));
  }
}

}  // namespace
}  // namespace graphkit
