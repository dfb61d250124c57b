// The pool that serves captures against a slow telling of its promise: a block's memory is handed
// on when a search of the graph proves that its streams' work is over, and no sooner; and what a
// stream may take is found as soon as it asks.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "plugins/torch_allocator/live_pool.h"
#include "tests/plugins/torch_allocator/live_graph.h"
#include "tests/random.h"

namespace graphkit {
namespace {

using Frontier = std::vector<FrontierEntry>;

struct Told {
  BlockId block;
  Address begin = 0, end = 0;
  bool in_arena = false;
  size_t capture = 0;             // in which it is used, and may be freed
  std::vector<size_t> used = {};  // streams of it
  std::vector<size_t> done = {};  // nodes that they have launched since
  enum { kUsed, kWaiting, kAtEnd, kFree } state = kUsed;
  std::vector<NodeId> markers = {};
  size_t freed = 0;  // step
};

// A stream stood there and wanted memory.
struct Ask {
  size_t step = 0;
  size_t stream = 0;
  Frontier at;
};

// Blocks, all freed in the capture, whose memory was taken by a stream that stood there; or was
// refused to it.
struct Verdict {
  std::vector<size_t> blocks;
  Frontier at;
  bool taken = true;
};

struct OpenCapture {
  std::unique_ptr<LiveGraph> graph;
  std::vector<Ask> asks = {};
  std::vector<Verdict> verdicts = {};
};

bool AllBefore(const SlowOrder& slow, const std::vector<NodeId>& nodes, const Frontier& at) {
  return std::ranges::all_of(nodes, [&](NodeId node) { return slow.Before(node, at); });
}

// The markers in the trace's terms.
std::vector<NodeId> Traced(LiveGraph* graph, const std::vector<NodeId>& markers) {
  std::vector<NodeId> traced;
  for (size_t i = 0; i < graph->nodes(); ++i) {
    if (std::ranges::find(markers, graph->IdOf(i)) != markers.end()) traced.push_back(NodeId(i));
  }
  return traced;
}

// True if some node has ended at `earlier` that may run at `later`.
bool WentBack(const SlowOrder& slow, size_t nodes, const Frontier& earlier, const Frontier& later) {
  for (size_t i = 0; i < nodes; ++i) {
    if (slow.Before(NodeId(i), earlier) && !slow.Before(NodeId(i), later)) return true;
  }
  return false;
}

// The asks of streams that have never gone back: the others are given no offers any more.
std::vector<Ask> OfferedTo(const OpenCapture& open, const SlowOrder& slow) {
  std::vector<Ask> offered;
  std::vector<size_t> back;
  for (const Ask& ask : open.asks) {
    for (const Ask& before : offered) {
      const bool same = before.stream == ask.stream;
      if (same && WentBack(slow, open.graph->nodes(), before.at, ask.at))
        back.push_back(ask.stream);
    }
    if (std::ranges::find(back, ask.stream) == back.end()) offered.push_back(ask);
  }
  return offered;
}

class RandomCaptures {
 public:
  explicit RandomCaptures(uint64_t seed) : random_(seed), last_(kUnits, kNone) {
    arena_ = pool_.AddArena(kUnits * kUnit);
  }

  void Run() {
    open_.resize(kAtOnce);
    for (OpenCapture& open : open_) Begin(&open);
    for (step_ = 0; step_ < 200; ++step_) Step();
    for (OpenCapture& open : open_) End(&open);
    REQUIRE(pool_.figures().mallocs == told_.size());
  }
  size_t handed_on() const { return handed_on_; }
  size_t refused() const { return refused_; }

 private:
  static constexpr size_t kAtOnce = 2, kStreams = 3, kUnits = 24;
  static constexpr size_t kMostCaptures = 5;  // of three streams: fifteen get offers
  static constexpr size_t kNone = ~size_t{0};
  static constexpr Bytes kUnit = 512, kLarge = Bytes{9} << 20;

  size_t Random(size_t below) { return random_() % below; }

  void Begin(OpenCapture* open) {
    *open = {std::make_unique<LiveGraph>(kStreams, EdgeRule::kCompletion, ++captures_)};
    pool_.BeginCapture({.capture = captures_, .order = &open->graph->order()});
  }

  void Step() {
    OpenCapture& open = open_[Random(kAtOnce)];
    const size_t stream = Random(kStreams);
    switch (Random(8)) {
      case 0:
      case 1:
        return open.graph->Wait(stream, Random(kStreams));
      case 2:
        return Launch(&open, stream);
      case 3:
        return Malloc(&open, stream);
      case 4:
        return MallocAt(&open, stream);
      case 5:
        return Use(open, stream);
      case 6:
        if (Random(10) > 0 || captures_ == kMostCaptures) return Launch(&open, stream);
        End(&open);
        return Begin(&open);
      default:
        return Free(&open);
    }
  }

  void Launch(OpenCapture* open, size_t stream) {
    const size_t node = open->graph->Launch(stream, Random(12) == 0);
    for (Told& told : told_) {
      const bool uses = std::ranges::find(told.used, stream) != told.used.end();
      if (told.state == Told::kUsed && told.capture == open->graph->id() && uses)
        told.done.push_back(node);
    }
  }

  // Another stream of its capture uses a block from now on; or of another, when its own has ended.
  void Use(const OpenCapture& open, size_t stream) {
    for (Told& told : told_) {
      if (told.state != Told::kUsed || Random(3) > 0) continue;
      if (told.capture == 0) told.capture = open.graph->id();
      if (told.capture == open.graph->id()) told.used.push_back(stream);
    }
  }

  LiveAsker Asks(OpenCapture* open, size_t stream) {
    open->asks.push_back({step_, stream, open->graph->SlowFrontier(stream)});
    return open->graph->Asker(stream);
  }

  void Malloc(OpenCapture* open, size_t stream) {
    const Bytes size = 1 + Random(Random(2) == 0 ? 8 * kUnit : kLarge);
    const std::optional<BlockId> block = pool_.Malloc(size, Asks(open, stream));
    REQUIRE(block);
    const Address begin = pool_.address(*block), end = begin + pool_.size(*block);
    Verdict verdict{{}, open->graph->SlowFrontier(stream)};
    for (size_t i = 0; i < told_.size(); ++i) {
      if (told_[i].begin >= end || begin >= told_[i].end || told_[i].state == Told::kFree) continue;
      REQUIRE(told_[i].state == Told::kWaiting);
      REQUIRE(told_[i].capture == open->graph->id());
      verdict.blocks.push_back(i);
    }
    open->verdicts.push_back(verdict);
    told_.push_back({*block, begin, end, false, open->graph->id(), {stream}});
  }

  void MallocAt(OpenCapture* open, size_t stream) {
    const size_t from = Random(kUnits), units = 1 + Random(std::min<size_t>(4, kUnits - from));
    const std::optional<BlockId> block =
        pool_.MallocAt(arena_, from * kUnit, units * kUnit, Asks(open, stream), false);
    Verdict verdict{{}, open->graph->SlowFrontier(stream), block.has_value()};
    bool hopeless = false;  // one lies there, or waits for the end or in another capture
    for (size_t unit = from; unit < from + units; ++unit) {
      if (last_[unit] == kNone || told_[last_[unit]].state == Told::kFree) continue;
      const Told& last = told_[last_[unit]];
      const bool waits = last.state == Told::kWaiting && last.capture == open->graph->id();
      hopeless = hopeless || !waits;
      verdict.blocks.push_back(last_[unit]);
    }
    if (!block) ++refused_;
    if (hopeless) {
      REQUIRE_FALSE(block);
      return;
    }
    open->verdicts.push_back(verdict);
    if (!block) return;
    std::fill_n(last_.begin() + static_cast<std::ptrdiff_t>(from), units, told_.size());
    const Address begin = arena_->address() + from * kUnit;
    REQUIRE(pool_.address(*block) == begin);
    told_.push_back({*block, begin, begin + units * kUnit, true, open->graph->id(), {stream}});
  }

  void Free(OpenCapture* open) {
    if (told_.empty()) return;
    Told& told = told_[Random(told_.size())];
    if (told.state != Told::kUsed) return;
    if (told.capture == 0) {
      told.state = Told::kFree;
      return pool_.FreeNow(told.block);
    }
    if (told.capture != open->graph->id()) return;
    told.freed = step_;
    if (Random(8) == 0) {
      told.state = Told::kAtEnd;
      return pool_.FreeAtEnd(told.block, told.capture);
    }
    told.state = Told::kWaiting;
    for (const size_t stream : told.used) {
      const LiveGraph::Frontier& at = open->graph->frontier(stream);
      REQUIRE(open->graph->order().AddMarkers(at, 0, &told.markers));
    }
    pool_.Free(told.block, told.capture, told.markers);
    if (Random(2) == 0) pool_.Progress(Asks(open, told.used[0]));
  }

  // The whole graph is known: what was handed on, and what was found, is held against a search.
  void End(OpenCapture* open) {
    for (size_t i = 0; i < open->graph->nodes(); ++i) open->graph->IdOf(i);
    const SlowOrder slow = open->graph->Slow();
    for (Told& told : told_) {
      if (told.capture == open->graph->id()) told.markers = Traced(open->graph.get(), told.markers);
    }
    for (const Verdict& verdict : open->verdicts) Check(verdict, slow);
    CheckFound(*open, slow);
    pool_.EndCapture(open->graph->id());
    for (Told& told : told_) {
      if (told.capture != open->graph->id()) continue;
      if (told.state != Told::kUsed) told.state = Told::kFree;
      told.capture = 0;
      told.used.clear();
      told.done.clear();
    }
  }

  void Check(const Verdict& verdict, const SlowOrder& slow) {
    bool proved = true;
    for (const size_t block : verdict.blocks) {
      proved = proved && AllBefore(slow, told_[block].markers, verdict.at);
      if (!verdict.taken) continue;
      for (const size_t node : told_[block].done) REQUIRE(slow.Before(NodeId(node), verdict.at));
      ++handed_on_;
    }
    REQUIRE(proved == verdict.taken);
  }

  void CheckFound(const OpenCapture& open, const SlowOrder& slow) {
    const std::vector<Ask> offered = OfferedTo(open, slow);
    for (const Told& told : told_) {
      if (told.capture != open.graph->id() || told.state != Told::kWaiting) continue;
      // A stream that went back may have taken its planned place.
      if (told.in_arena && pool_.completed(told.block)) continue;
      const bool found = std::ranges::any_of(offered, [&](const Ask& ask) {
        return ask.step >= told.freed && AllBefore(slow, told.markers, ask.at);
      });
      REQUIRE(pool_.completed(told.block) == found);
    }
  }

  std::mt19937_64 random_;
  BumpDriver driver_;
  LivePool pool_{{}, &driver_};
  PlanArena* arena_ = nullptr;
  std::vector<size_t> last_;  // the block that lay last in each unit of the arena
  std::vector<Told> told_;
  std::vector<OpenCapture> open_;
  size_t captures_ = 0;
  size_t step_ = 0;
  size_t handed_on_ = 0;
  size_t refused_ = 0;
};

TEST_CASE("in random captures memory is handed on when a search proves it, and no sooner") {
  const uint64_t seed = RandomSeed();
  CAPTURE(seed);
  size_t handed_on = 0, refused = 0;
  for (int round = 0; round < RandomRounds(150); ++round) {
    CAPTURE(round);
    RandomCaptures captures(seed + static_cast<uint64_t>(round));
    captures.Run();
    handed_on += captures.handed_on();
    refused += captures.refused();
  }
  CHECK(handed_on > 0);
  CHECK(refused > 0);
}

}  // namespace
}  // namespace graphkit
