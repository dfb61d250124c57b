// The CUDA API's view of graphs, as lines of JSON on stdout (random_graphs.py reads them). Nodes
// and graphs are named by their handles; a graph also by a label, given when it is made, since
// handles are used again.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <string>
#include <vector>

namespace random_graphs {

// Properties that no function returns before CUDA 13.2: kept from when the node was made.
struct Conditional {
  const char* type;
  std::vector<cudaGraph_t> bodies;
};
using Conditionals = std::map<cudaGraphNode_t, Conditional>;

// The kernels that the programs use, and where in their parameters an address may be.
struct Address {
  int parameter;
  size_t offset;
  char mode;  // as a trace has it: r through a pointer to const, else ?
};
struct Kernel {
  const void* function;
  const char* name;  // mangled
  std::vector<Address> addresses;
};
extern const Kernel kKernels[4];
struct Pack {  // the parameter of kKernels[3]
  int number;
  unsigned* first;
  const unsigned* second;
};

// Formats as printf does.
__attribute__((format(printf, 1, 2))) std::string Text(const char* format, ...);

// Prints a whole line, also from several threads.
void Say(const std::string& line);

// The parameters of a node, as the inner part of a JSON object.
std::string Describe(const cudaGraphNodeParams& params);

std::vector<cudaGraphNode_t> NodesOf(cudaGraph_t graph);

// The graph that a child graph node embeds; null: it is another node.
cudaGraph_t ChildOf(cudaGraphNode_t node);

// The graph's nodes and edges as they are now.
void Dump(cudaGraph_t graph, const std::string& label, const Conditionals& conditionals);

}  // namespace random_graphs
