#include "libgraphkit/analysis/explain/where.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "libgraphkit/ran/resolve.h"
#include "tests/analysis/random_trace.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

// The slow answer: a replay of the allocator's events, record by record, from the definition.
class Replay {
 public:
  Replay(const Ran& trace, Address address, Seq at) : trace_(trace), address_(address) {
    for (const Segment& segment : trace.segments) {
      if (segment.block.valid()) backing_.insert(segment.block.value);
    }
    const Seq last = at == kNever ? trace.records : at;
    for (Seq seq = 0; seq <= last; ++seq) Step(seq);
  }

  // {state, the block or segment, the last block of idle memory}; -1: none.
  std::tuple<AddressState, int64_t, int64_t> Answer() const {
    const auto newest = [](const std::vector<uint32_t>& ids) { return int64_t{ids.back()}; };
    if (!alive_.empty()) return {AddressState::kAlive, newest(alive_), -1};
    if (!deferred_.empty()) return {AddressState::kDeferred, newest(deferred_), -1};
    std::vector<uint32_t> of_graphs;
    for (const uint32_t block : gone_) {
      const GraphId graph = trace_[BlockId(block)].graph;
      if (graph.valid() && Runs(RootOf(trace_, graph))) of_graphs.push_back(block);
    }
    std::ranges::sort(of_graphs);
    if (!of_graphs.empty()) return {AddressState::kGraph, newest(of_graphs), -1};
    const int64_t last = gone_.empty() ? -1 : newest(gone_);
    if (!idle_.empty()) return {AddressState::kIdle, -1, last};
    if (last >= 0) return {AddressState::kFreed, last, -1};
    return {unmapped_ ? AddressState::kFreed : AddressState::kNever, -1, -1};
  }

  // From the nearest block that is there to the address, below and above; -1: there is none.
  std::pair<int64_t, int64_t> Distances() const {
    int64_t below = -1, above = -1;
    for (const uint32_t id : there_) {
      const Block& block = trace_[BlockId(id)];
      const auto begin = static_cast<int64_t>(block.address);
      const auto end = begin + static_cast<int64_t>(block.size);
      const auto address = static_cast<int64_t>(address_);
      if (end <= address) below = below < 0 ? address - end : std::min(below, address - end);
      if (begin > address) above = above < 0 ? begin - address : std::min(above, begin - address);
    }
    return {below, above};
  }

 private:
  bool Holds(Address begin, Bytes size) const {
    return begin <= address_ && address_ < begin + size;
  }

  void Step(Seq seq) {
    for (uint32_t i = 0; i < trace_.segments.size(); ++i) {
      const Segment& segment = trace_.segments[i];
      if (!Holds(segment.address, segment.size)) continue;
      if (segment.allocated == seq) idle_.insert("segment " + std::to_string(i));
      if (segment.freed == seq) unmapped_ = idle_.erase("segment " + std::to_string(i)) > 0;
    }
    for (uint32_t i = 0; i < trace_.blocks.size(); ++i) StepBlock(i, seq);
    for (uint32_t i = 0; i < trace_.graphs.size(); ++i) {
      if (trace_.graphs[i].created == seq) running_.insert({i, -1});
      if (trace_.graphs[i].destroyed == seq) running_.erase({i, -1});
    }
    for (uint32_t i = 0; i < trace_.execs.size(); ++i) {
      const uint32_t graph = trace_.execs[i].graph.value;
      if (trace_.execs[i].created == seq) running_.insert({graph, i});
      if (trace_.execs[i].destroyed == seq) running_.erase({graph, i});
    }
  }

  void StepBlock(uint32_t id, Seq seq) {
    const Block block = trace_[BlockId(id)];
    if (block.allocated == seq) there_.insert(id);
    if (block.free_completed == seq) there_.erase(id);
    if (!Holds(block.address, block.size)) return;
    if (backing_.contains(id)) {
      if (block.allocated == seq) idle_.insert("block " + std::to_string(id));
      if (block.free_completed == seq) unmapped_ = idle_.erase("block " + std::to_string(id)) > 0;
      return;
    }
    const auto move = [id](std::vector<uint32_t>* from, std::vector<uint32_t>* to) {
      const auto place = std::ranges::find(*from, id);
      if (place != from->end()) from->erase(place);
      to->push_back(id);
      if (from != to) std::ranges::stable_sort(*from);
    };
    if (block.allocated == seq) alive_.push_back(id);
    if (block.free_requested == seq) {
      move(&alive_, &deferred_);
      std::ranges::sort(deferred_);
    }
    if (block.free_completed == seq) move(&deferred_, &gone_);
  }

  bool Runs(GraphId graph) const {
    return std::ranges::any_of(running_, [&](const auto& of) { return of.first == graph.value; });
  }

  const Ran& trace_;
  const Address address_;
  std::set<uint32_t> backing_, there_;
  std::set<std::string> idle_;
  std::set<std::pair<uint32_t, int64_t>> running_;
  std::vector<uint32_t> alive_, deferred_;  // by allocation
  std::vector<uint32_t> gone_;              // by their free
  bool unmapped_ = false;
};

// A random trace whose graphs are launched, and some of whose memory goes.
Ran RandomProgram(std::mt19937_64& random) {
  const auto chance = [&](uint32_t percent) { return random() % 100 < percent; };
  Ran trace = RandomTrace(random(), {.max_steps = 40, .memory = true, .pools = true});
  for (Segment& segment : trace.segments) {
    if (chance(30)) segment.freed = trace.records++;
  }
  for (size_t i = 0; i < trace.graphs.size(); ++i) {
    if (chance(50)) trace.execs.push_back({.graph = GraphId(i), .created = trace.records++});
    if (chance(20) && trace.graphs[i].destroyed == kNever)
      trace.graphs[i].destroyed = trace.records++;
  }
  for (size_t i = 0; i < trace.execs.size(); ++i) {
    if (chance(60)) trace.launches.push_back({.exec = ExecId(i), .seq = trace.records++});
    if (chance(30)) trace.execs[i].destroyed = trace.records++;
  }
  return trace;
}

Address RandomAddress(const Ran& trace, std::mt19937_64& random) {
  if (trace.blocks.empty() || random() % 20 == 0) return random() % 16384;
  const Block block = trace.blocks[random() % trace.blocks.size()];
  return block.address + random() % (block.size + 200) - (random() % 8 == 0 ? 100 : 0);
}

using PointersOf = std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>>;

// By root graph and block, the nodes with an access that may reach the address.
PointersOf SlowPointers(const Ran& trace, Address address, Seq at) {
  PointersOf pointers;
  for (const NodeId id : trace.graph_nodes) {
    const Node node = trace[id];
    if (node.seq > at) continue;
    for (const Access& access : trace.accesses.Of(node.accesses)) {
      const Block block = trace[access.block];
      const Address from = block.address + access.offset;
      const Address end =
          access.length == kLengthUnknown ? block.address + block.size : from + access.length;
      const bool inside = block.address <= address && address < block.address + block.size;
      if (!inside || block.allocated > at || address < from || address >= end) continue;
      pointers[{RootOf(trace, node.graph).value, access.block.value}].insert(id.value);
    }
  }
  return pointers;
}

TEST_CASE("random addresses of random programs are as in a replay of the allocator's events") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::map<AddressState, int> seen;
  for (int round = 0; round < RandomRounds(1000); ++round) {
    CAPTURE(round);
    const Ran trace = RandomProgram(random);
    const Address address = RandomAddress(trace, random);
    const Seq at = random() % 4 == 0 ? kNever : static_cast<Seq>(random() % trace.records);
    CAPTURE(address);
    CAPTURE(at);
    const Whereabouts where = FindWhere(Facts(trace), address, {.at = at});
    const Replay replay(trace, address, at);
    const auto [state, holder, last] = replay.Answer();
    ++seen[state];
    REQUIRE(where.state == state);
    const auto block_of = [&](std::optional<size_t> found) {
      if (!found || where.holders[*found].backs_segment) return int64_t{-1};
      const BlockId block = where.holders[*found].block;
      return block.valid() ? int64_t{block.value} : -1;
    };
    REQUIRE(block_of(where.holder) == holder);
    REQUIRE(block_of(where.last) == last);
    std::pair<int64_t, int64_t> distances{-1, -1};
    for (const AddressNeighbour& near : where.neighbours)
      (near.above ? distances.second : distances.first) = static_cast<int64_t>(near.distance);
    REQUIRE(distances == replay.Distances());
    PointersOf pointers;
    for (const AddressPointer& pointer : where.pointers) {
      for (const NodeId node : pointer.nodes)
        pointers[{pointer.graph.value, pointer.block.value}].insert(node.value);
    }
    REQUIRE(pointers == SlowPointers(trace, address, at));
  }
  CHECK(seen.size() == 6);  // each state came
}

// A graph captured with a buffer that the program then frees, and whose memory another buffer gets:
//
//     buffer 0   alloc ── capture ── launch 0 ── free
//     buffer 1                                        alloc ── launch 1
struct StalePointer {
  TraceBuilder t;
  BlockId old_buffer, new_buffer;
  Address address = 0;
  StalePointer() {
    const StreamId stream = t.Stream();
    const SegmentId segment = t.Segment(t.Pool(PoolKind::kAllocator), 2 * kMiB, stream);
    address = t.trace()[segment].address;
    t.SetStack(t.Stack({{"load", "/app/weights.py", 12}}));
    old_buffer = t.AllocAt(stream, kMiB, address, segment);
    const GraphId graph = t.BeginCapture(stream, "decode");
    t.Kernel(stream, "Embed", {Reads(old_buffer, 4096)});
    t.EndCapture(stream);
    const ExecId exec = t.Instantiate(graph);
    t.Launch(exec, stream);
    t.SetStack(t.Stack({{"reload", "/app/weights.py", 40}}));
    t.Free(old_buffer, stream);
    new_buffer = t.AllocAt(stream, kMiB, address, segment);
    t.Launch(exec, stream);
  }
};

TEST_CASE("a stale pointer is named with the buffer that it was for, and the new owner") {
  StalePointer program;
  const Ran trace = program.t.Build();
  const Whereabouts where =
      FindWhere(Facts(trace), program.address + 8192, {trace.launches[1].seq, 1});
  CHECK(where.state == AddressState::kAlive);
  REQUIRE(where.holder);
  CHECK(where.holders[*where.holder].block == program.new_buffer);
  REQUIRE(where.pointers.size() == 1);
  CHECK(where.pointers[0] == AddressPointer{.graph = GraphId(0u),
                                            .block = program.old_buffer,
                                            .state = AddressPointer::State::kStale,
                                            .nodes = {NodeId(0u)},
                                            .execs = {ExecId(0u)},
                                            .launches = 1,
                                            .first_launch = 1});
  const Whereabouts before =
      FindWhere(Facts(trace), program.address + 8192, {trace.launches[0].seq});
  CHECK(before.pointers.at(0).state == AddressPointer::State::kAlive);
  CHECK(before.holders[*before.holder].block == program.old_buffer);
}

TEST_CASE("at a launch the memory of its own graph comes first") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const SegmentId segment = t.Segment(t.Pool(PoolKind::kPrivate), 2 * kMiB, stream);
  const Address address = t.trace()[segment].address;
  std::vector<ExecId> execs;
  for (int i = 0; i < 2; ++i) {
    const GraphId graph = t.BeginCapture(stream);
    const BlockId block = t.AllocAt(stream, kMiB, address, segment);
    t.Kernel(stream, "k", {Writes(block)});
    t.Free(block, stream);
    t.EndCapture(stream);
    execs.push_back(t.Instantiate(graph));
  }
  for (const ExecId exec : execs) t.Launch(exec, stream);
  const Ran trace = t.Build();
  const auto graph_at = [&](uint32_t launch) {
    const Result<Moment> moment = FindMoment("launch " + std::to_string(launch), trace);
    REQUIRE(moment);
    const Whereabouts where = FindWhere(Facts(trace), address, *moment);
    CHECK(where.state == AddressState::kGraph);
    return where.holders[*where.holder].graph.value;
  };
  CHECK(graph_at(0) == 0);
  CHECK(graph_at(1) == 1);
  CHECK(!FindMoment("launch:2", trace));
  CHECK(CheckLaunchOrMoment("launch:x") != "");
}

}  // namespace
}  // namespace graphkit
