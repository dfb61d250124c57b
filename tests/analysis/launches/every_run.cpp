#include "tests/analysis/launches/every_run.h"

#include <set>
#include <utility>

namespace graphkit {
namespace {

constexpr size_t kNone = ~size_t{0};

// The end of the first `count` entries of a stream's queue.
struct Point {
  size_t stream = 0;
  size_t count = 0;
};

// An entry of a stream's queue.
struct Entry {
  size_t call = 0;                // that queues it
  size_t submission = kNone;      // none: it only waits, or records an event
  std::vector<Point> after = {};  // beside the entries before it
};

// How far a run has come.
struct State {
  std::vector<size_t> ended;   // by stream: entries
  std::vector<size_t> called;  // by thread: of its calls
  auto operator<=>(const State&) const = default;
};

struct Explorer {
  Explorer(const RunProgram& of, bool in_order)
      : program(of),
        threads_in_order(in_order),
        queues(of.streams.size()),
        recorded(of.events),
        launched(of.execs),
        calls_of(of.threads) {
    for (size_t i = 0; i < program.execs; ++i) graph_of.push_back(i);
    for (size_t i = 0; i < program.calls.size(); ++i) Make(i);
  }

  Point EndOf(size_t stream) const { return {stream, queues[stream].size()}; }
  std::vector<Point> EndsOf(RunStream kind) const {
    std::vector<Point> ends;
    for (size_t i = 0; i < queues.size(); ++i) {
      if (program.streams[i] == kind) ends.push_back(EndOf(i));
    }
    return ends;
  }

  // "When an action is taken in the legacy stream such as a kernel launch or cudaStreamWaitEvent(),
  // the legacy stream first waits on all blocking streams, the action is queued in the legacy
  // stream, and then all blocking streams wait on the legacy stream" (CUDA runtime API, stream
  // synchronization behavior).
  void Queue(size_t stream, Entry entry) {
    const bool legacy = program.streams[stream] == RunStream::kLegacy;
    if (legacy)
      queues[stream].push_back({.call = entry.call, .after = EndsOf(RunStream::kBlocking)});
    queues[stream].push_back(entry);
    if (!legacy) return;
    for (size_t i = 0; i < queues.size(); ++i) {
      if (program.streams[i] == RunStream::kBlocking)
        queues[i].push_back({.call = entry.call, .after = {EndOf(stream)}});
    }
  }

  void QueueWait(size_t call, size_t stream, size_t event) {
    Queue(stream, {.call = call, .after = recorded[event]});
  }
  void QueueRecord(size_t call, size_t stream, size_t event) {
    Queue(stream, {.call = call});
    recorded[event] = {EndOf(stream)};
  }
  void QueueSubmission(size_t call, size_t stream, std::vector<Point> after) {
    Queue(stream, {.call = call, .submission = submissions++, .after = std::move(after)});
  }

  // "Each launch is ordered behind both any previous work in hStream and any previous launches of
  // hGraphExec" (cuGraphLaunch).
  void QueueLaunch(size_t id, const HostCall& call) {
    const RunGraph& graph = program.graphs[graph_of[call.exec]];
    std::vector<Point>& before = launched[call.exec];
    if (graph.waits != RunGraph::kNoEvent) {
      Queue(call.stream, {.call = id, .after = before});
      QueueWait(id, call.stream, graph.waits);
    }
    QueueSubmission(id, call.stream, before);
    before = {EndOf(call.stream)};
    if (graph.records != RunGraph::kNoEvent) {
      QueueRecord(id, call.stream, graph.records);
      before = {EndOf(call.stream)};
    }
  }

  // Queues what a call does, and finds what it waits for before it returns.
  void Make(size_t id) {
    const HostCall& call = program.calls[id];
    calls_of[call.thread].push_back(id);
    returns_after.emplace_back();
    frees_before.push_back(last_free);
    std::vector<Point>& waits = returns_after.back();
    switch (call.kind) {
      case HostCallKind::kLaunch:
        return QueueLaunch(id, call);
      case HostCallKind::kWork:
        return QueueSubmission(id, call.stream, {});
      case HostCallKind::kRecord:
        return QueueRecord(id, call.stream, call.event);
      case HostCallKind::kWait:
        return QueueWait(id, call.stream, call.event);
      case HostCallKind::kSyncStream:
        // A wait for the legacy stream is for the blocking streams, too. It is taken as an action,
        // which submits nothing: what another thread submits to them later comes after that.
        if (program.streams[call.stream] == RunStream::kLegacy) Queue(call.stream, {.call = id});
        waits.push_back(EndOf(call.stream));
        return;
      case HostCallKind::kSyncEvent:
        waits = recorded[call.event];
        return;
      case HostCallKind::kUpdate:
        graph_of[call.exec] = call.graph;
        return;
      case HostCallKind::kChange:
        return;  // counts for later launches
      case HostCallKind::kFree:
        last_free = id;
        [[fallthrough]];
      case HostCallKind::kSyncDevice:
        for (size_t i = 0; i < queues.size(); ++i) waits.push_back(EndOf(i));
    }
  }

  static bool Reached(const State& state, const std::vector<Point>& points) {
    for (const Point& point : points) {
      if (state.ended[point.stream] < point.count) return false;
    }
    return true;
  }
  size_t ThreadOf(size_t call) const { return program.calls[call].thread; }
  bool Queued(const State& state, size_t call) const {
    const bool unnamed = program.calls[call].kind == HostCallKind::kWait && program.threads > 1;
    const bool waits = program.calls[call].kind == HostCallKind::kSyncStream;
    return (unnamed && !threads_in_order) || waits || Called(state, call);
  }
  bool Called(const State& state, size_t call) const {
    const std::vector<size_t>& own = calls_of[ThreadOf(call)];
    const size_t made = state.called[ThreadOf(call)];
    return made > 0 && own[made - 1] >= call;
  }

  bool MayCall(const State& state, size_t call) const {
    if (!Reached(state, returns_after[call])) return false;
    if (frees_before[call] != kNone && !Called(state, frees_before[call])) return false;
    for (size_t before = 0; before < call && threads_in_order; ++before) {
      if (!Called(state, before)) return false;
    }
    return true;
  }

  void Visit(State state) {
    if (!seen.insert(state).second) return;
    for (size_t stream = 0; stream < queues.size(); ++stream) {
      const size_t next = state.ended[stream];
      if (next == queues[stream].size()) continue;
      const Entry& entry = queues[stream][next];
      if (!Queued(state, entry.call) || !Reached(state, entry.after)) continue;
      if (entry.submission != kNone) NoteStart(state, entry.submission);
      ++state.ended[stream];
      Visit(state);
      --state.ended[stream];
    }
    for (size_t thread = 0; thread < calls_of.size(); ++thread) {
      const size_t next = state.called[thread];
      if (next == calls_of[thread].size() || !MayCall(state, calls_of[thread][next])) continue;
      ++state.called[thread];
      Visit(state);
      --state.called[thread];
    }
  }

  // What hasn't ended may still run.
  void NoteStart(const State& state, size_t later) {
    for (size_t stream = 0; stream < queues.size(); ++stream) {
      for (size_t i = state.ended[stream]; i < queues[stream].size(); ++i) {
        const size_t earlier = queues[stream][i].submission;
        if (earlier < later) overlap[earlier][later] = true;
      }
    }
  }

  void Run() {
    overlap.assign(submissions, std::vector<bool>(submissions));
    Visit({std::vector<size_t>(queues.size()), std::vector<size_t>(calls_of.size())});
  }

  const RunProgram& program;
  bool threads_in_order;
  std::vector<std::vector<Entry>> queues;     // by stream
  std::vector<std::vector<Point>> recorded;   // by event: the last record; none: there is none
  std::vector<std::vector<Point>> launched;   // by exec: the last launch
  std::vector<size_t> graph_of = {};          // by exec, for its next launch
  std::vector<std::vector<size_t>> calls_of;  // by thread
  std::vector<std::vector<Point>> returns_after = {};  // by call
  std::vector<size_t> frees_before = {};  // by call: the last free, which all threads know
  size_t last_free = kNone;
  size_t submissions = 0;
  std::set<State> seen = {};
  std::vector<std::vector<bool>> overlap = {};
};

}  // namespace

std::vector<std::vector<bool>> MayOverlap(const RunProgram& program, bool threads_in_order) {
  Explorer explorer(program, threads_in_order);
  explorer.Run();
  return std::move(explorer.overlap);
}

}  // namespace graphkit
