#include "libgraphkit/replay/execution_job.h"

#include <random>

#include "libgraphkit/model/node_versions.h"

namespace graphkit {
namespace {

constexpr uint32_t kNone = ExecutionJob::kNone;

// One legal order of many: of what can go on, some items, chosen at random, are held back as long
// as anything else can.
class UnlikelyOrder {
 public:
  explicit UnlikelyOrder(uint64_t seed)
      : random_(seed), last_first_(seed % 2 == 0), most_held_(1 + seed / 2 % 3) {}

  uint32_t Random(size_t below) { return static_cast<uint32_t>(random_() % below); }

  bool empty() const { return open_.empty() && held_.empty(); }
  // The item can go on. True: it is held back.
  bool Offer(uint32_t item) {
    const bool held = held_.size() < most_held_ && Random(4) == 0;
    (held ? held_ : open_).push_back(item);
    return held;
  }
  // Takes the next item; there is one.
  uint32_t Choose() {
    std::vector<uint32_t>& from = open_.empty() ? held_ : open_;
    const bool last = last_first_ && !open_.empty() && Random(8) != 0;
    const size_t at = last ? from.size() - 1 : Random(from.size());
    const uint32_t item = from[at];
    from[at] = from.back();
    from.pop_back();
    return item;
  }

 private:
  std::mt19937_64 random_;
  bool last_first_;
  size_t most_held_;
  std::vector<uint32_t> open_;
  std::vector<uint32_t> held_;
};

class JobMaker {
 public:
  JobMaker(const Facts& facts, const Program& program, const JobOptions& options)
      : facts_(facts),
        program_(program),
        options_(options),
        order_(options.seed),
        skipped_(program.steps.size()),
        start_(program.steps.size(), kNone),
        end_(program.steps.size(), kNone) {}

  ExecutionJob Make() {
    ChooseBodies();
    AddVertices();
    for (uint32_t step = 0; step < program_.steps.size(); ++step) {
      if (start_[step] != kNone) AddEdges(step);
    }
    AddLast();
    PutInOrder();
    AddStretches();
    for (const uint32_t vertex : sequence_) AddNode(vertex);
    return std::move(job_);
  }

 private:
  struct Arrow {
    uint32_t from;
    uint32_t to;
    uint8_t from_port = 0;
    uint8_t type = 0;
    auto operator<=>(const Arrow&) const = default;
  };
  struct Vertex {
    uint32_t step = kNone;
    bool touches = false;  // the step's touches are here
    bool kernel = false;   // an end of a partial edge
    bool waits = false;
  };

  Node NodeOf(uint32_t step) const { return facts_.trace[program_.steps[step].node]; }

  void ChooseBodies() {
    for (const ProgramStep& step : program_.steps) {
      if (step.bodies.empty()) continue;
      const uint32_t taken = order_.Random(step.bodies.size());
      for (uint32_t i = 0; i < step.bodies.size(); ++i) {
        if (i == taken) continue;
        for (const uint32_t skipped : program_.bodies[step.bodies[i]]) skipped_[skipped] = true;
      }
    }
  }

  void AddVertices() {
    for (uint32_t step = 0; step < program_.steps.size(); ++step) {
      step_of_[program_.steps[step].node.value] = step;
      if (skipped_[step]) continue;
      const NodeKind kind = NodeOf(step).kind;
      const bool holds = kind == NodeKind::kChildGraph || kind == NodeKind::kConditional;
      ++job_.executed;
      start_[step] = end_[step] = static_cast<uint32_t>(vertices_.size());
      vertices_.push_back({.step = step, .touches = true});
      if (!holds) continue;
      end_[step] = static_cast<uint32_t>(vertices_.size());
      vertices_.push_back({.step = step});
      arrows_.push_back({start_[step], end_[step]});
    }
  }

  uint32_t StepOf(NodeId node) const {
    const auto at = step_of_.find(node.value);
    return at == step_of_.end() || skipped_[at->second] ? kNone : at->second;
  }

  bool Waits(uint32_t step) const {
    return WaitsFor(facts_.trace, program_.steps[step].node) == Ternary::kYes;
  }

  void AddEdges(uint32_t step) {
    const Node& node = NodeOf(step);
    const uint32_t holder = StepOf(facts_.trace[node.graph].parent);
    if (holder != kNone) {
      arrows_.push_back({start_[holder], start_[step]});
      arrows_.push_back({end_[step], end_[holder]});
    }
    for (const InEdge& edge : facts_.in_edges().Of(program_.steps[step].node.index())) {
      const uint32_t from = StepOf(edge.from);
      if (from == kNone) continue;
      if (edge.full) {
        arrows_.push_back({end_[from], start_[step]});
      } else if (options_.partial == PartialEdges::kAll ||
                 (options_.partial == PartialEdges::kBetweenKernels && Kernels(from, step))) {
        AddPartial(from, step, edge.from_port);
      } else {
        ++job_.left_out;
        if (Waits(step)) arrows_.push_back({end_[from], start_[step]});
        StartAfter(from, step, 0);
      }
    }
  }

  bool Kernels(uint32_t from, uint32_t to) const {
    return NodeOf(from).kind == NodeKind::kKernel && NodeOf(to).kind == NodeKind::kKernel;
  }

  void AddPartial(uint32_t from, uint32_t to, uint8_t from_port) {
    Vertex& a = vertices_[start_[from]];
    Vertex& b = vertices_[start_[to]];
    a.kernel = b.kernel = true;
    b.waits = EndWaitsFor(facts_.trace, program_.steps[to].node) == Ternary::kYes;
    arrows_.push_back(
        {start_[from], start_[to], from_port, static_cast<uint8_t>(EdgeType::kProgrammatic)});
  }

  // `step` starts after all that `other` starts after.
  void StartAfter(uint32_t other, uint32_t step, int depth) {
    constexpr int kMostDepth = 64;
    for (const InEdge& edge : facts_.in_edges().Of(program_.steps[other].node.index())) {
      const uint32_t from = StepOf(edge.from);
      if (from == kNone) continue;
      // Deep chains: a little more order than was recorded.
      if (edge.full || depth == kMostDepth) {
        arrows_.push_back({end_[from], start_[step]});
      } else {
        StartAfter(from, step, depth + 1);
      }
    }
  }

  // Looks at what has to outlive the graph.
  void AddLast() {
    const auto last = static_cast<uint32_t>(vertices_.size());
    vertices_.push_back({});
    std::vector<bool> followed(vertices_.size());
    for (const Arrow& arrow : arrows_) {
      if (arrow.type == 0) followed[arrow.from] = true;
    }
    for (uint32_t vertex = 0; vertex < last; ++vertex) {
      if (!followed[vertex]) arrows_.push_back({vertex, last});
    }
    std::ranges::sort(arrows_);
    const auto same = [](const Arrow& a, const Arrow& b) {
      return a.from == b.from && a.to == b.to;
    };
    arrows_.erase(std::unique(arrows_.begin(), arrows_.end(), same), arrows_.end());
  }

  void PutInOrder() {
    std::vector<uint32_t> needs(vertices_.size());
    for (const Arrow& arrow : arrows_) ++needs[arrow.to];
    Grouped leaving;
    leaving.Assign(arrows_.size(), vertices_.size(), [&](size_t i) { return arrows_[i].from; });
    held_.resize(vertices_.size());
    for (uint32_t vertex = 0; vertex < vertices_.size(); ++vertex) {
      if (needs[vertex] == 0) held_[vertex] = order_.Offer(vertex);
    }
    while (!order_.empty()) {
      const uint32_t vertex = order_.Choose();
      sequence_.push_back(vertex);
      for (const uint32_t i : leaving.Of(vertex)) {
        const uint32_t to = arrows_[i].to;
        if (--needs[to] == 0) held_[to] = order_.Offer(to);
      }
    }
  }

  void AddStretches() {
    for (const ProgramStretch& stretch : program_.stretches) {
      const Bytes size = options_.whole ? stretch.size : 8;
      job_.stretches.push_back({options_.whole ? stretch.offset : job_.memory, size});
      job_.memory =
          options_.whole ? std::max(job_.memory, stretch.offset + size) : job_.memory + size;
    }
    std::vector<uint32_t> place(vertices_.size());
    for (uint32_t i = 0; i < sequence_.size(); ++i) place[sequence_[i]] = i;
    for (const Arrow& arrow : arrows_) {
      job_.edges.push_back({place[arrow.from], place[arrow.to], arrow.from_port, 0, arrow.type, 0});
    }
  }

  void AddNode(uint32_t index) {
    const Vertex& vertex = vertices_[index];
    graphkit_job_node node{};
    node.first_touch = static_cast<uint32_t>(job_.touches.size());
    node.held_us = held_[index] ? options_.held_us : 0;
    node.kernel = vertex.kernel ? 1 : 0;
    node.waits = vertex.waits ? 1 : 0;
    if (vertex.touches) {
      AddTouches(vertex.step);
    } else if (vertex.step == kNone) {
      AddSurvivors();
    }
    node.touches = static_cast<uint32_t>(job_.touches.size()) - node.first_touch;
    job_.nodes.push_back(node);
    job_.steps.push_back(vertex.step);
  }

  void AddTouch(uint32_t block, bool checks, bool writes) {
    const Slice canaries = program_.blocks[block].canaries;
    job_.touches.push_back({canaries.first, canaries.count, block,
                            static_cast<uint8_t>(checks ? 1 : 0),
                            static_cast<uint8_t>(writes ? 1 : 0), 0});
  }

  std::span<const ProgramTouch> TouchesOf(uint32_t step) const {
    const Slice slice = program_.steps[step].touches;
    return std::span(program_.touches).subspan(slice.first, slice.count);
  }

  void AddTouches(uint32_t step) {
    for (const ProgramTouch& touch : TouchesOf(step)) {
      const bool written = touch.writer != ProgramTouch::kNoWriter && !skipped_[touch.writer];
      AddTouch(touch.block, written, touch.writes);
    }
  }

  void AddSurvivors() {
    std::vector<bool> written(program_.blocks.size());
    for (uint32_t step = 0; step < program_.steps.size(); ++step) {
      if (skipped_[step]) continue;
      for (const ProgramTouch& touch : TouchesOf(step)) {
        if (touch.writes) written[touch.block] = true;
      }
    }
    for (uint32_t block = 0; block < written.size(); ++block) {
      if (written[block] && !program_.blocks[block].dies) AddTouch(block, true, false);
    }
  }

  const Facts& facts_;
  const Program& program_;
  JobOptions options_;
  UnlikelyOrder order_;
  std::vector<bool> skipped_;  // by step
  std::vector<uint32_t> start_, end_;
  std::unordered_map<uint32_t, uint32_t> step_of_;  // by node
  std::vector<Vertex> vertices_;
  std::vector<Arrow> arrows_;
  std::vector<uint32_t> sequence_;
  std::vector<bool> held_;  // by vertex
  ExecutionJob job_;
};

// One order of a job's starts and ends.
class HostRun {
 public:
  HostRun(const ExecutionJob& job, uint64_t seed)
      : job_(job),
        order_(seed),
        memory_(job.stretches.size()),
        needs_(2 * job.nodes.size()),
        ended_(job.nodes.size()) {
    for (const graphkit_job_edge& edge : job.edges) {
      ++needs_[StartOf(edge.to)];
      if (HoldsEnd(edge)) ++needs_[EndOf(edge.to)];
    }
    edges_.Assign(job.edges.size(), job.nodes.size(), [&](size_t i) { return job.edges[i].from; });
    for (const graphkit_touch& touch : job.touches) {
      uses_.resize(std::max<size_t>(uses_.size(), touch.block + 1));
      ++uses_[touch.block];
    }
  }

  graphkit_job_outcome Run() {
    for (uint32_t node = 0; node < ended_.size(); ++node) {
      ++needs_[EndOf(node)];
      if (needs_[StartOf(node)] == 0) order_.Offer(StartOf(node));
    }
    while (!order_.empty()) {
      const uint32_t item = order_.Choose();
      item % 2 == 0 ? Start(item / 2) : End(item / 2);
    }
    return outcome_;
  }

 private:
  static uint32_t StartOf(uint32_t node) { return 2 * node; }
  static uint32_t EndOf(uint32_t node) { return 2 * node + 1; }
  // Its second node waits for the end of the first one before it ends itself.
  bool HoldsEnd(const graphkit_job_edge& edge) const {
    return edge.type != 0 && job_.nodes[edge.to].waits != 0;
  }

  void Start(uint32_t node) {
    ForEachTouch(node, [&](uint32_t at) {
      const graphkit_touch& touch = job_.touches[at];
      if (touch.checks != 0) Check(node, at);
      if (touch.writes != 0) Write(node, touch);
    });
    Release(EndOf(node));
    ForEachEdge(node, [&](const graphkit_job_edge& edge) {
      if (edge.type != 0) Release(StartOf(edge.to));
    });
  }

  // All that it touched must still be there.
  void End(uint32_t node) {
    ForEachTouch(node, [&](uint32_t at) {
      if (job_.touches[at].checks != 0 || job_.touches[at].writes != 0) Check(node, at);
    });
    ended_[node] = true;
    ForEachTouch(node, [&](uint32_t at) { --uses_[job_.touches[at].block]; });
    ForEachEdge(node, [&](const graphkit_job_edge& edge) {
      if (edge.type == 0) Release(StartOf(edge.to));
      if (HoldsEnd(edge)) Release(EndOf(edge.to));
    });
  }

  void Release(uint32_t item) {
    if (--needs_[item] == 0) order_.Offer(item);
  }

  void Check(uint32_t node, uint32_t at) {
    const graphkit_touch& touch = job_.touches[at];
    outcome_.checks += touch.stretches;
    for (const uint64_t canary : CanariesOf(touch)) {
      if (canary != 0 && BlockOf(canary) != touch.block) return Report(node, at, canary);
    }
  }

  void Write(uint32_t node, const graphkit_touch& touch) {
    const uint64_t own = (uint64_t{node} + 1) << 32 | (uint64_t{touch.block} + 1);
    outcome_.checks += touch.stretches;
    for (uint64_t& canary : CanariesOf(touch)) {
      const uint32_t before = BlockOf(canary);
      if (canary != 0 && before != touch.block && uses_[before] > 0) ReportNeeded(before, own);
      canary = own;
    }
  }

  static uint32_t BlockOf(uint64_t canary) { return static_cast<uint32_t>(canary) - 1; }

  void Report(uint32_t node, uint32_t at, uint64_t found) {
    if (outcome_.faulty != 0) return;
    outcome_.faulty = 1;
    outcome_.node = node;
    outcome_.touch = at;
    outcome_.found = found;
  }

  // To the first node that still has to touch the block.
  void ReportNeeded(uint32_t block, uint64_t found) {
    for (uint32_t node = 0; node < ended_.size() && outcome_.faulty == 0; ++node) {
      if (ended_[node]) continue;
      ForEachTouch(node, [&](uint32_t at) {
        if (job_.touches[at].block == block) Report(node, at, found);
      });
    }
  }

  void ForEachTouch(uint32_t node, const auto& visit) const {
    const graphkit_job_node& of = job_.nodes[node];
    for (uint32_t i = 0; i < of.touches; ++i) visit(of.first_touch + i);
  }
  void ForEachEdge(uint32_t from, const auto& visit) const {
    for (const uint32_t i : edges_.Of(from)) visit(job_.edges[i]);
  }
  // One canary stands for each stretch.
  std::span<uint64_t> CanariesOf(const graphkit_touch& touch) {
    return std::span(memory_).subspan(touch.first_stretch, touch.stretches);
  }

  const ExecutionJob& job_;
  UnlikelyOrder order_;
  std::vector<uint64_t> memory_;
  std::vector<uint32_t> needs_;  // of each start and end: how many others come before it
  std::vector<bool> ended_;      // by node
  std::vector<int64_t> uses_;    // by block: touches of nodes that haven't ended
  Grouped edges_;                // by the node that they lead from
  graphkit_job_outcome outcome_{};
};

}  // namespace

graphkit_job ExecutionJob::Job(uint32_t launches) const {
  return {.nodes = nodes.data(),
          .edges = edges.data(),
          .touches = touches.data(),
          .stretches = stretches.data(),
          .node_count = static_cast<uint32_t>(nodes.size()),
          .edge_count = static_cast<uint32_t>(edges.size()),
          .touch_count = static_cast<uint32_t>(touches.size()),
          .stretch_count = static_cast<uint32_t>(stretches.size()),
          .memory_bytes = memory,
          .launches = launches};
}

ExecutionJob MakeJob(const Facts& facts, const Program& program, const JobOptions& options) {
  return JobMaker(facts, program, options).Make();
}

graphkit_job_outcome RunOnHost(const ExecutionJob& job, uint64_t seed) {
  return HostRun(job, seed).Run();
}

}  // namespace graphkit
