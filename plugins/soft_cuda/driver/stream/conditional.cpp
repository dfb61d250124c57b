#include "plugins/soft_cuda/driver/stream/conditional.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <variant>

#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

const ConditionalParams* ConditionalOf(const Node& node) {
  const auto* params = std::get_if<std::unique_ptr<ConditionalParams>>(&node.params);
  return params != nullptr ? params->get() : nullptr;
}

// Calls visit(node) for each node of a graph and of those inside it until it returns true.
template <typename Visit>
bool AnyNode(const Graph& graph, const Visit& visit) {
  return std::any_of(graph.order.begin(), graph.order.end(), [&](const Node* node) {
    if (visit(*node)) return true;
    const auto inner = InnerGraphs(*node);
    return std::any_of(inner.begin(), inner.end(),
                       [&](const Graph* body) { return AnyNode(*body, visit); });
  });
}

bool IsHost(const Node& node) { return node.type == CU_GRAPH_NODE_TYPE_HOST; }

// Is one of the kernel's arguments this handle? Looked for in whole words, so that it is found in a
// struct.
bool Takes(const Node& node, CUgraphConditionalHandle handle) {
  const auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(&node.params);
  if (kernel == nullptr || (*kernel)->arguments.bytes == nullptr) return false;
  const KernelArguments& arguments = (*kernel)->arguments;
  for (size_t at = 0; at + sizeof handle <= arguments.size; at += sizeof handle) {
    if (std::memcmp(arguments.bytes.get() + at, &handle, sizeof handle) == 0) return true;
  }
  return false;
}

struct Plan;
using Step = std::variant<Work, std::shared_ptr<const Plan>>;

struct Plan {
  CUgraphConditionalHandle handle;
  CUgraphConditionalNodeType kind;
  std::vector<std::vector<Step>> bodies;
};

std::shared_ptr<const Plan> MakePlan(const ConditionalParams& params);

void AddSteps(const Graph& body, std::vector<Step>& steps) {
  for (const Node* node : body.order) {
    if (!node->enabled) continue;
    if (const ConditionalParams* inner = ConditionalOf(*node)) {
      steps.emplace_back(MakePlan(*inner));
    } else if (const auto* child = std::get_if<ChildParams>(&node->params)) {
      AddSteps(*child->graph, steps);
    }
    for (Work& work : WorksOf(node->params)) steps.emplace_back(std::move(work));
  }
}

std::shared_ptr<const Plan> MakePlan(const ConditionalParams& params) {
  auto plan = std::make_shared<Plan>(Plan{params.handle, params.kind, {}});
  for (const Graph* body : params.bodies) AddSteps(*body, plan->bodies.emplace_back());
  return plan;
}

size_t Choice(const Plan& plan) {
  const unsigned value = Device::Get().conditional_values.Get(plan.handle);
  switch (plan.kind) {
    case CU_GRAPH_COND_TYPE_IF:
      return value != 0 ? 0 : 1;
    case CU_GRAPH_COND_TYPE_WHILE:
      return value != 0 ? 0 : plan.bodies.size();
    default:
      return value;
  }
}

// A body holds no host nodes, and kernels don't run, so that nothing in it changes a value: that of
// a WHILE node is done once.
void Run(const Plan& plan) {
  const size_t choice = Choice(plan);
  if (choice >= plan.bodies.size()) return;
  for (const Step& step : plan.bodies[choice]) {
    if (const auto* inner = std::get_if<std::shared_ptr<const Plan>>(&step)) {
      Run(**inner);
    } else if (const Work& work = std::get<Work>(step); work.run) {
      work.run();
    }
  }
}

}  // namespace

std::vector<Work> StartsOfHandles(const Graph& exec) {
  std::vector<Work> works;
  const auto add = [&](const Graph& graph) {
    for (const ConditionalHandle& handle : graph.handles) {
      works.push_back({.what = "a handle", .run = [id = handle.id, value = handle.value] {
                         Device::Get().conditional_values.Set(id, value);
                       }});
    }
  };
  add(exec);
  AnyNode(exec, [&](const Node& node) {
    for (const Graph* inner : InnerGraphs(node)) add(*inner);
    return false;
  });
  return works;
}

Work ConditionalWork(const ConditionalParams& params) {
  return {.what = "a conditional node", .run = [plan = MakePlan(params)] { Run(*plan); }};
}

Loop FindLoop(const Graph& exec) {
  Loop found = Loop::kNone;
  const bool host_sets = AnyNode(exec, IsHost);
  AnyNode(exec, [&](const Node& node) {
    const ConditionalParams* p = ConditionalOf(node);
    if (p == nullptr || p->kind != CU_GRAPH_COND_TYPE_WHILE) return false;
    const ConditionalHandle* handle = FindHandle(p->bodies.front(), p->handle);
    if (handle == nullptr || handle->value == 0) return false;
    const bool ended = AnyNode(exec, [&](const Node& n) { return Takes(n, p->handle); });
    if (ended) {
      found = Loop::kEndedByKernel;
    } else if (!host_sets) {
      found = Loop::kEndless;
    }
    return found == Loop::kEndless;
  });
  return found;
}

}  // namespace graphkit::soft::driver

// Sets a conditional handle from a host node, before the conditional node that reads it.
extern "C" __attribute__((visibility("default"))) void graphkit_soft_set_conditional(
    unsigned long long handle, unsigned value) {
  graphkit::soft::Device::Get().conditional_values.Set(handle, value);
}
