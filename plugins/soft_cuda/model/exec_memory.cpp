#include "plugins/soft_cuda/model/exec_memory.h"

#include "plugins/soft_cuda/device/gpu.h"
#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {
namespace {

uint64_t NodesBytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (const Node* node : graph.nodes) {
    if (node == nullptr) continue;
    bytes += ExecNodeBytes(node->type);
    for (const Graph* inner : InnerGraphs(*node)) bytes += NodesBytes(*inner);
  }
  return bytes;
}

bool Take(Graph* exec, uint64_t bytes) {
  Gpu& gpu = *exec->gpu;
  const uint64_t held = gpu.exec_chunk_bytes();
  gpu.exec_bytes += bytes;
  const uint64_t growth = gpu.exec_chunk_bytes() - held;
  gpu.exec_bytes -= bytes;
  if (growth > gpu.free_bytes()) return false;
  gpu.exec_bytes += bytes;
  exec->device_bytes += bytes;
  return true;
}

}  // namespace

bool TakeExecMemory(Graph* exec, Gpu* gpu) {
  exec->gpu = gpu;
  return Take(exec, kExecBytes + NodesBytes(*exec));
}

bool TakeUploadMemory(Graph* exec) {
  if (exec->uploaded || exec->gpu == nullptr) return true;
  return exec->uploaded = Take(exec, NodesBytes(*exec) / 4);
}

void GiveBackExecMemory(Graph* exec) {
  if (exec->gpu != nullptr) exec->gpu->exec_bytes -= exec->device_bytes;
  exec->device_bytes = 0;
}

}  // namespace graphkit::soft
