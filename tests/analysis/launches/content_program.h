// A random program that is executed byte by byte: submissions (launches, work outside of graphs) on
// streams. They run in an order that their streams and waits allow; at a cut the host has waited
// for all of them. Each launch runs its nodes in an order that the edges allow, bodies at random. A
// cell's value is what was written there last, mixed of all that its writer read. One block is
// unmapped at times, and mapped again with other memory; its content may have been saved, and be
// copied back. Of the library it has the trace and the classes only.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/random.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {

inline constexpr Bytes kContentCell = 512;
inline constexpr Bytes kCells = 8;  // of a block
inline constexpr uint64_t kBlocksOutside = 4, kPlaces = 4;
inline constexpr Bytes kContentBlock = kCells * kContentCell;

inline uint64_t Mix(uint64_t a, uint64_t b) { return Random(a * 31 + b).Next(); }

struct Cells {
  size_t first = 0, count = 0;
};
// What a node or work really does.
struct Deed {
  enum Kind { kFill, kCopy, kCompute, kBody } kind = kCompute;
  std::vector<Cells> reads, writes;
  GraphId body = {};
};
struct ProgramStep {
  enum Kind { kWork, kLaunch, kCut, kNap } kind = kWork;
  Deed deed = {};
  bool observed = false;  // the host gets what it reads
  size_t graph = 0;       // of a launch
  std::set<NodeId> off = {};
  std::vector<size_t> after = {};
  uint32_t launch = 0;
};
struct GraphOfProgram {
  GraphId id;
  ExecId exec;
  std::vector<NodeId> nodes;
};

class ContentProgram {
 public:
  explicit ContentProgram(uint64_t seed) : random_(seed) {
    for (StreamId& stream : streams_) stream = t_.Stream();
    base_ = 0x500000000000;
    pool_ = t_.Pool(PoolKind::kPrivate, "pool");
    blocks_.push_back(t_.Map(base_, kContentBlock));
    for (uint64_t i = 1; i < kBlocksOutside; ++i) Place(streams_[0], i, nullptr);
    outside_ = blocks_;
    t_.SetPool(t_.Pool(PoolKind::kHost));
    saved_ = t_.AllocAt({}, kContentBlock, base_ + CellCount() * kContentCell);
    shown_ = t_.AllocAt({}, kContentBlock, base_ + (CellCount() + kCells) * kContentCell);
    t_.SetPool({});
    const uint64_t graphs = 1 + random_.Below(3);
    for (uint64_t i = 0; i < graphs; ++i) Capture();
    const std::vector<uint64_t> fed = SomeBlocks(), taken = SomeBlocks();
    for (uint64_t round = 2 + random_.Below(3); round > 0; --round) Round(fed, taken);
    trace_ = t_.Build();
    trace_.process.all_work = true;
    for (Kernel& kernel : trace_.kernels) kernel.has_layout = true;
  }

  const Ran& trace() const { return trace_; }
  uint32_t launches() const { return launches_; }
  Address base() const { return base_; }

  struct Results {
    std::vector<uint64_t> observed;                 // by the host
    std::vector<std::pair<NodeId, uint64_t>> read;  // by nodes of launches
    std::vector<uint64_t> memory;
  };
  // The cells are poisoned at cuts, or set to 0; the host waits there with or without.
  Results Run(uint64_t seed, const std::set<uint32_t>& cuts, const std::vector<bool>& poisoned,
              bool zero = false) {
    Random order(seed);
    results_ = {};
    results_.memory.assign(CellCount() + 2 * kCells, 0);
    for (size_t i = 0; i < results_.memory.size(); ++i) results_.memory[i] = Mix(i, 77);
    for (const size_t at : SomeOrder(&order, cuts)) {
      const ProgramStep& of = submissions_[at];
      if (of.kind == ProgramStep::kCut) {
        for (size_t i = 0; cuts.contains(of.launch) && i < CellCount(); ++i) {
          if (poisoned[i]) results_.memory[i] = zero ? 0 : Mix(i, 0xdead + of.launch);
        }
      } else if (of.kind == ProgramStep::kNap) {
        for (size_t i = 0; i < kCells; ++i) results_.memory[i] = Mix(i, 0x4a9 + at);
      } else if (of.kind == ProgramStep::kWork) {
        const uint64_t read = Do(of.deed, at);
        if (of.observed) results_.observed.push_back(Mix(read, at));
      } else {
        Random nodes(Mix(seed, at));
        Launch(of, &nodes, at);
      }
    }
    return results_;
  }
  // The node that a class names reads some of the cells.
  bool NodeReads(NodeId node, const std::vector<bool>& cells) const {
    const auto deed = deeds_.find(node);
    if (deed == deeds_.end()) return false;
    for (const Cells& reads : deed->second.reads) {
      for (size_t i = 0; i < reads.count; ++i) {
        if (cells[reads.first + i]) return true;
      }
    }
    return false;
  }
  static size_t CellCount() { return (kBlocksOutside + kPlaces) * kCells; }

 private:
  bool Chance(double p) { return random_.Chance(p); }
  std::vector<uint64_t> SomeBlocks() {
    std::vector<uint64_t> some;
    for (uint64_t i = 0; i < kBlocksOutside; ++i) {
      if (Chance(0.5)) some.push_back(i);
    }
    return some;
  }

  void Place(StreamId stream, uint64_t place, std::vector<BlockId>* list) {
    const BlockId id =
        t_.AllocAt(stream, kCells * kContentCell, base_ + place * kCells * kContentCell);
    blocks_.push_back(id);
    if (list != nullptr) list->push_back(id);
  }
  Cells CellsOf(const Access& access) const {
    const Block block = t_.trace()[access.block];
    const Bytes length = std::min(access.length, block.size - access.offset);
    return {(block.address - base_ + access.offset) / kContentCell, length / kContentCell};
  }

  // Part of a block, of which it is said what is read and written; by an unknown access anything.
  Access SomeAccess(BlockId block, Deed* deed, bool unknown) {
    const Bytes first = Chance(0.6) ? 0 : random_.Below(kCells);
    const Bytes count = Chance(0.6) ? kCells - first : 1 + random_.Below(kCells - first);
    Access access{block, AccessMode::kUnknown, first * kContentCell, count * kContentCell};
    const Cells cells = CellsOf(access);
    bool reads = Chance(0.55), writes = !reads || Chance(0.2);
    if (unknown) {
      access.length = kLengthUnknown;
      reads = Chance(0.7);
      writes = Chance(0.7);
    } else {
      access.mode = reads && writes ? AccessMode::kReadWrite
                    : reads         ? AccessMode::kRead
                                    : AccessMode::kWrite;
      if (reads && !writes && Chance(0.3)) access.length = kLengthUnknown;
    }
    if (reads) deed->reads.push_back(cells);
    if (writes) deed->writes.push_back(cells);
    return access;
  }

  Deed SomeDeed(const std::vector<BlockId>& of, std::vector<Access>* accesses) {
    Deed deed;
    const uint64_t what = random_.Below(4);
    const auto any = [&] { return of[random_.Below(of.size())]; };
    if (what < 2) {  // a fill, or a copy
      deed.kind = what == 0 ? Deed::kFill : Deed::kCopy;
      const Bytes count = Chance(0.7) ? kCells : 1 + random_.Below(kCells);
      const BlockId to = any(), from = any();
      const bool copies = what == 1 && from != to;
      accesses->push_back(Writes(to, 0, count * kContentCell));
      deed.kind = copies ? Deed::kCopy : Deed::kFill;
      deed.writes.push_back(CellsOf(accesses->back()));
      if (!copies) return deed;
      accesses->push_back(Reads(from, 0, count * kContentCell));
      deed.reads.push_back(CellsOf(accesses->back()));
      return deed;
    }
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
      const BlockId block = any();
      const bool own = t_.trace()[block].graph.valid();
      accesses->push_back(SomeAccess(block, &deed, !own && Chance(0.08)));
    }
    return deed;
  }

  NodeKind KindOf(const Deed& deed) const {
    return deed.kind == Deed::kFill   ? NodeKind::kMemset
           : deed.kind == Deed::kCopy ? NodeKind::kMemcpy
                                      : NodeKind::kKernel;
  }

  void Capture() {
    GraphOfProgram graph;
    const StreamId origin = streams_[0], side = streams_[1];
    graph.id = t_.BeginCapture(origin);
    t_.SetPool(pool_);
    std::vector<BlockId> reach = outside_, own;
    for (uint64_t place = 0; place < kPlaces; ++place) {
      if (held_.contains(place) || Chance(0.4)) continue;
      Place(origin, kBlocksOutside + place, &own);
      if (!Chance(0.9)) held_.insert(place);
    }
    reach.insert(reach.end(), own.begin(), own.end());
    for (const BlockId block : own) {
      if (Chance(0.7)) First(origin, block, &graph);
    }
    for (uint64_t i = 2 + random_.Below(7); i > 0; --i) {
      const bool aside = Chance(0.3);
      if (aside && !t_.Capturing(side)) t_.Order(origin, side);
      const StreamId stream = aside ? side : origin;
      if (Chance(0.1)) {
        Conditional(stream, reach, &graph);
      } else {
        std::vector<Access> accesses;
        const Deed deed = SomeDeed(reach, &accesses);
        AddNode(t_.Capture(stream, KindOf(deed), accesses), deed, &graph);
      }
      if (t_.Capturing(side) && Chance(0.3)) t_.Order(side, origin);
    }
    if (t_.Capturing(side)) t_.Order(side, origin);
    for (const BlockId block : own) {
      const Block& of = t_.trace()[block];
      const uint64_t place = (of.address - base_) / (kCells * kContentCell) - kBlocksOutside;
      if (!held_.contains(place)) t_.Free(block);
    }
    t_.EndCapture(origin);
    t_.SetPool({});
    graph.exec = t_.Instantiate(graph.id);
    graphs_.push_back(graph);
  }
  void AddNode(NodeId node, const Deed& deed, GraphOfProgram* graph) {
    deeds_[node] = deed;
    graph->nodes.push_back(node);
  }
  // The first to touch a block of its graph: as the documentation has it, one that may write it
  // writes all from its address on.
  void First(StreamId stream, BlockId block, GraphOfProgram* graph) {
    const bool unknown = Chance(0.5);
    const Access access = unknown ? Touches(block) : Writes(block, 0, kCells * kContentCell);
    Deed deed{.kind = unknown ? Deed::kCompute : Deed::kFill, .writes = {CellsOf(access)}};
    AddNode(t_.Capture(stream, KindOf(deed), {&access, 1}), deed, graph);
  }
  void Conditional(StreamId stream, const std::vector<BlockId>& reach, GraphOfProgram* graph) {
    const NodeId node = t_.Conditional(stream, ConditionalType::kIf);
    const GraphId body = t_.Body(node);
    AddNode(node, {.kind = Deed::kBody, .body = body}, graph);
    std::vector<Access> accesses;
    const Deed deed = SomeDeed(reach, &accesses);
    const NodeId inner = t_.Add(body, KindOf(deed));
    deeds_[inner] = deed;
    inner_[body] = inner;
    auto& trace = const_cast<Trace&>(t_.trace());
    const Slice slice = trace.accesses.Append(accesses);
    trace.nodes.Change(inner.index(), [&](Node& of) { of.accesses = slice; });
  }

  // Feeds some blocks, launches, takes some results; now and then something else.
  void Round(const std::vector<uint64_t>& fed, const std::vector<uint64_t>& taken) {
    for (const uint64_t block : fed) {
      if (Chance(0.95)) Work({.kind = Deed::kFill}, {Writes(outside_[block], 0, Length())});
    }
    if (Chance(0.15)) Outside();
    for (uint64_t i = 1 + (Chance(0.2) ? 1 : 0); i > 0; --i) LaunchSome();
    if (Chance(0.15)) Outside();
    for (const uint64_t block : taken) {
      if (Chance(0.9)) Work({}, {Reads(outside_[block], 0, Length())});
    }
    if (Chance(0.4)) Sleep();
  }
  // What is saved may be copied back after this sleep or another one; what the host looks at isn't.
  void Sleep() {
    const bool saves = Chance(0.7), restores = Chance(0.8);
    if (saves) SaveOrRestore(outside_[0], saved_, false);
    if (Chance(0.2)) SaveOrRestore(outside_[0], shown_, true);
    if (Chance(0.1)) Outside();
    Synchronize();
    t_.Free(outside_[0]);
    submissions_.push_back({.kind = ProgramStep::kNap});
    outside_[0] = blocks_[0] = t_.Map(base_, kContentBlock);
    if (Chance(0.05)) Outside();
    if (restores) SaveOrRestore(saved_, outside_[0], false);
    if (Chance(0.1)) Work({}, {Reads(saved_, 0, kContentBlock)});
  }
  void SaveOrRestore(BlockId from, BlockId to, bool observed) {
    Work({.kind = Deed::kCopy}, {Writes(to, 0, kContentBlock), Reads(from, 0, kContentBlock)},
         observed);
  }
  Bytes Length() { return (Chance(0.8) ? kCells : 1 + random_.Below(kCells)) * kContentCell; }

  void LaunchSome() {
    const size_t at = random_.Below(graphs_.size());
    const GraphOfProgram& graph = graphs_[at];
    if (Chance(0.1) && !graph.nodes.empty()) {
      const NodeId node = graph.nodes[random_.Below(graph.nodes.size())];
      const bool is_off = !off_[at].insert(node).second;
      if (is_off) off_[at].erase(node);
      t_.Change(node, graph.exec, is_off ? NodeChangeKind::kEnabled : NodeChangeKind::kDisabled);
    }
    const size_t stream = Chance(0.85) ? 0 : 1;
    Submit({.kind = ProgramStep::kLaunch, .graph = at, .off = off_[at], .launch = launches_},
           stream);
    t_.Launch(graph.exec, streams_[stream]);
    submissions_.push_back({.kind = ProgramStep::kCut, .launch = launches_});
    ++launches_;
  }
  void Outside() {
    if (Chance(0.3)) return Synchronize();
    std::vector<Access> accesses;
    const Deed deed = SomeDeed(Chance(0.8) ? outside_ : blocks_, &accesses);
    Work(deed, accesses);
  }
  void Work(Deed deed, const std::vector<Access>& accesses, bool observed = true) {
    const size_t stream = Chance(0.85) ? 0 : 1;
    if (deed.reads.empty() && deed.writes.empty()) {
      for (const Access& access : accesses) {
        auto& list = access.mode == AccessMode::kRead ? deed.reads : deed.writes;
        list.push_back(CellsOf(access));
      }
    }
    Submit({.deed = deed, .observed = observed}, stream);
    AddWork(stream, KindOf(deed), accesses);
    if (stream == 1 && Chance(0.7)) Order(1, 0);
    if (stream == 0 && Chance(0.15)) Order(0, 1);
  }
  void AddWork(size_t stream, NodeKind kind, const std::vector<Access>& accesses) {
    if (kind == NodeKind::kKernel) {
      t_.Work(streams_[stream], "work");
    } else {
      t_.Work(streams_[stream], kind);
    }
    auto& trace = const_cast<Trace&>(t_.trace());
    trace.works.back().accesses = trace.accesses.Append(accesses);
  }

  void Submit(ProgramStep of, size_t stream) {
    of.after = waits_[stream];
    waits_[stream] = {submissions_.size()};
    submissions_.push_back(std::move(of));
  }
  void Order(size_t before, size_t after) {
    t_.Order(streams_[before], streams_[after]);
    waits_[after].insert(waits_[after].end(), waits_[before].begin(), waits_[before].end());
  }
  void Synchronize() {
    t_.Synchronize();
    const std::vector<size_t> other = waits_[1];
    waits_[0].insert(waits_[0].end(), other.begin(), other.end());
    waits_[1] = waits_[0];
  }

  // The host waits at cuts: what is before one in the list of submissions has ended there.
  std::vector<size_t> SomeOrder(Random* random, const std::set<uint32_t>& cuts) const {
    std::vector<size_t> order;
    std::set<size_t> open;
    std::vector<bool> done(submissions_.size());
    const auto run = [&] {
      while (!open.empty()) {
        std::vector<size_t> ready;
        for (const size_t at : open) {
          const auto& after = submissions_[at].after;
          if (std::ranges::all_of(after, [&](size_t one) { return done[one]; }))
            ready.push_back(at);
        }
        const size_t next = ready[random->Below(ready.size())];
        open.erase(next);
        done[next] = true;
        order.push_back(next);
      }
    };
    for (size_t i = 0; i < submissions_.size(); ++i) {
      const ProgramStep& of = submissions_[i];
      if (of.kind != ProgramStep::kCut && of.kind != ProgramStep::kNap) {
        open.insert(i);
      } else if (of.kind == ProgramStep::kNap || cuts.contains(of.launch)) {
        run();
        order.push_back(i);
      }
    }
    run();
    return order;
  }

  uint64_t Do(const Deed& deed, uint64_t salt) {
    uint64_t read = 1;
    for (const Cells& cells : deed.reads) {
      for (size_t i = 0; i < cells.count; ++i) read = Mix(read, results_.memory[cells.first + i]);
    }
    if (deed.kind == Deed::kCopy) {
      const std::vector<uint64_t> from(
          results_.memory.begin() + static_cast<std::ptrdiff_t>(deed.reads[0].first),
          results_.memory.begin() +
              static_cast<std::ptrdiff_t>(deed.reads[0].first + deed.reads[0].count));
      std::ranges::copy(
          from, results_.memory.begin() + static_cast<std::ptrdiff_t>(deed.writes[0].first));
      return read;
    }
    for (const Cells& cells : deed.writes) {
      for (size_t i = 0; i < cells.count; ++i)
        results_.memory[cells.first + i] = Mix(Mix(read, salt), cells.first + i);
    }
    return read;
  }

  void Launch(const ProgramStep& of, Random* random, uint64_t salt) {
    const GraphOfProgram& graph = graphs_[of.graph];
    std::set<NodeId> open(graph.nodes.begin(), graph.nodes.end());
    // Nodes that do nothing are in between.
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      if (trace_.nodes[i].graph == graph.id) open.insert(NodeId(i));
    }
    while (!open.empty()) {
      std::vector<NodeId> ready;
      for (const NodeId node : open) {
        const bool waits = std::ranges::any_of(trace_.edges, [&](const Edge& edge) {
          return edge.to == node && open.contains(edge.from);
        });
        if (!waits) ready.push_back(node);
      }
      const NodeId node = ready[random->Below(ready.size())];
      open.erase(node);
      const bool taken = random->Chance(0.5);
      const auto deed = deeds_.find(node);
      if (deed == deeds_.end() || of.off.contains(node)) continue;
      const bool body = deed->second.kind == Deed::kBody;
      if (body && !taken) continue;
      const Deed& does = body ? deeds_.at(inner_.at(deed->second.body)) : deed->second;
      results_.read.emplace_back(node, Do(does, Mix(salt, node.value)));
    }
  }

  Random random_;
  TraceBuilder t_;
  Ran trace_;
  StreamId streams_[2];
  PoolId pool_;
  Address base_ = 0;
  std::vector<BlockId> blocks_, outside_;
  BlockId saved_, shown_;  // the content of the one that sleeps
  std::set<uint64_t> held_;
  std::vector<GraphOfProgram> graphs_;
  std::map<NodeId, Deed> deeds_;
  std::map<GraphId, NodeId> inner_;
  std::map<size_t, std::set<NodeId>> off_;
  std::vector<ProgramStep> submissions_;
  std::vector<size_t> waits_[2];
  uint32_t launches_ = 0;
  Results results_;
};

}  // namespace graphkit
