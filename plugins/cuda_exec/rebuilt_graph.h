// One job as a CUDA graph, with its memory. Everything goes when it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugins/cuda_exec/executor.h"

namespace graphkit::exec {

class RebuiltGraph {
 public:
  RebuiltGraph(const Executor& executor, const graphkit_job& job)
      : executor_(executor), driver_(executor.driver_), job_(job) {}
  ~RebuiltGraph();
  RebuiltGraph(const RebuiltGraph&) = delete;
  RebuiltGraph& operator=(const RebuiltGraph&) = delete;

  // Each returns what went wrong; empty: nothing.
  std::string Build();
  std::string Launch(graphkit_job_outcome* outcome);

 private:
  std::string Reserve();
  std::string ReserveOnHost();
  std::string ReserveOnDevice();
  std::string AddNode(uint32_t index);
  std::string AddKernel(uint32_t index, CUgraphNode* node);
  std::string AddEdges();
  std::string CheckEdges() const;
  NodeWork WorkOf(uint32_t index) const;
  uint64_t BytesOf(uint32_t index) const;

  const Executor& executor_;
  const Driver& driver_;
  const graphkit_job& job_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
  std::vector<CUgraphNode> nodes_;
  std::vector<NodeWork> works_;         // by node
  NodeWork base_{};                     // where everything lies
  std::vector<CUdeviceptr> on_device_;  // to be freed
  std::vector<void*> on_host_;          // the same
};

}  // namespace graphkit::exec
