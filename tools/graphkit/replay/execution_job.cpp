#include "tools/graphkit/replay/execution_job.h"

#include "libgraphkit/ran/ran.h"
#include "tools/graphkit/replay/unlikely_order.h"

namespace graphkit {
namespace {

constexpr uint32_t kNone = ExecutionJob::kNone;

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

}  // namespace

graphkit_job ExecutionJob::Job() const {
  return {.nodes = nodes.data(),
          .edges = edges.data(),
          .touches = touches.data(),
          .stretches = stretches.data(),
          .node_count = static_cast<uint32_t>(nodes.size()),
          .edge_count = static_cast<uint32_t>(edges.size()),
          .touch_count = static_cast<uint32_t>(touches.size()),
          .stretch_count = static_cast<uint32_t>(stretches.size()),
          .memory_bytes = memory};
}

ExecutionJob MakeJob(const Facts& facts, const Program& program, const JobOptions& options) {
  return JobMaker(facts, program, options).Make();
}

}  // namespace graphkit
