#include "libgraphkit/model/normalize.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace graphkit {
namespace {

constexpr Address kFirstAddress = 0x10000000;
constexpr Bytes kAlignment = Bytes{2} << 20;  // of the regions

std::string_view LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Numbers values in the order of their appearance.
class Numbering {
 public:
  uint64_t operator()(uint64_t value) {
    if (value == 0) return 0;
    return numbers_.emplace(value, numbers_.size() + 1).first->second;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> numbers_;
};

// A piece of memory that something in the trace occupies.
struct Piece {
  Address begin = 0;
  Address end = 0;
  Seq seq = 0;
};

// Pieces that overlap, at whatever time.
struct Region {
  Address begin = 0;
  Address end = 0;
  Seq seq = 0;  // of the first piece
  Address moved = 0;
};

std::vector<Piece> PiecesOf(const Trace& trace) {
  std::vector<Piece> pieces;
  for (const Segment& s : trace.segments) {
    pieces.push_back({s.address, s.address + s.size, s.allocated});
  }
  for (const Block& b : trace.blocks)
    pieces.push_back({b.address, b.address + b.size, b.allocated});
  std::ranges::sort(pieces, [](const Piece& a, const Piece& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return pieces;
}

std::vector<Region> RegionsOf(const std::vector<Piece>& pieces) {
  std::vector<Region> regions;
  for (const Piece& piece : pieces) {
    if (regions.empty() || piece.begin >= regions.back().end) {
      regions.push_back({piece.begin, piece.end, piece.seq, 0});
    }
    regions.back().end = std::max(regions.back().end, piece.end);
    regions.back().seq = std::min(regions.back().seq, piece.seq);
  }
  return regions;
}

// Where each region goes: one after the other, in the order of their first use.
void LayOut(std::vector<Region>& regions) {
  std::vector<Region*> order;
  for (Region& region : regions) order.push_back(&region);
  std::ranges::sort(order, {}, [](const Region* region) { return region->seq; });
  Address next = kFirstAddress;
  for (Region* region : order) {
    region->moved = next;
    next = RoundUp(next + (region->end - region->begin) + 1, kAlignment);
  }
}

void MoveMemory(Trace& trace) {
  std::vector<Region> regions = RegionsOf(PiecesOf(trace));
  LayOut(regions);
  const auto move = [&](Address& address) {
    auto after = std::ranges::upper_bound(regions, address, {}, &Region::begin);
    const Region& region = *std::prev(after);
    address = region.moved + (address - region.begin);
  };
  for (Segment& segment : trace.segments) move(segment.address);
  for (Block& block : trace.blocks) move(block.address);
}

void NumberHandles(Trace& trace) {
  Numbering streams, events, graphs, execs, pools, threads, communicators;
  for (Stream& stream : trace.streams) stream.handle = streams(stream.handle);
  for (Event& event : trace.events) event.handle = events(event.handle);
  for (Pool& pool : trace.pools) pool.handle = pools(pool.handle);
  for (Graph& graph : trace.graphs) {
    graph.handle = graphs(graph.handle);
    graph.tool_id = 0;
  }
  for (Exec& exec : trace.execs) {
    exec.handle = execs(exec.handle);
    exec.tool_id = 0;
    exec.node_ids = {};
  }
  trace.tool_id_runs.clear();
  for (Launch& launch : trace.launches) launch.correlation = 0;
  for (Communicator& communicator : trace.communicators) {
    communicator.key = communicators(communicator.key);
  }
  for (Thread& thread : trace.threads) {
    thread.tid = static_cast<int64_t>(threads(static_cast<uint64_t>(thread.tid)));
  }
}

void ForgetTimes(Trace& trace) {
  trace.times.clear();
  for (ClockPair& clock : trace.clocks) clock = {.seq = clock.seq};
  for (Node& node : trace.nodes) node.duration_ns = 0;
}

void ForgetProcess(Trace& trace) {
  Process process;
  process.device = trace.process.device;
  process.program = LastPart(trace.process.program);
  process.args = trace.process.args;
  process.environment = trace.process.environment;
  process.unknown_memory = trace.process.unknown_memory;
  process.seq = trace.process.seq;
  trace.process = process;
}

// The table of names is made anew, in the order in which a reader meets them.
class Renamer {
 public:
  explicit Renamer(Trace& trace) : trace_(trace) {}

  void Keep(StringId& id) { id = Intern(trace_.strings[id]); }
  void Shorten(StringId& id) { id = Intern(LastPart(trace_.strings[id])); }
  void Finish() { trace_.strings = std::move(names_); }

 private:
  StringId Intern(std::string_view text) { return text.empty() ? StringId() : names_.Intern(text); }

  Trace& trace_;
  StringTable names_;
};

}  // namespace

Trace Normalize(Trace trace) {
  MoveMemory(trace);
  NumberHandles(trace);
  ForgetTimes(trace);
  ForgetProcess(trace);
  Renamer names(trace);
  for (Thread& thread : trace.threads) names.Keep(thread.name);
  for (Kernel& kernel : trace.kernels) names.Keep(kernel.name);
  for (StackFrame& frame : trace.stack_frames) {
    names.Keep(frame.function);
    names.Shorten(frame.file);
    frame.line = 0;
  }
  for (NvtxRange& range : trace.nvtx_ranges) {
    names.Keep(range.domain);
    names.Keep(range.name);
  }
  for (Stream& stream : trace.streams) names.Keep(stream.name);
  for (Graph& graph : trace.graphs) names.Keep(graph.name);
  for (Pool& pool : trace.pools) names.Keep(pool.name);
  for (Failure& failure : trace.failures) {
    names.Keep(failure.call);
    names.Keep(failure.arguments);
  }
  names.Finish();
  return trace;
}

}  // namespace graphkit
