// Conditional nodes.
#pragma once

#include <cuda.h>
#include <vector>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/model/node_params.h"

namespace graphkit::soft::driver {

// A conditional node runs when its turn comes, as one work that looks at the handle's value and
// does what the chosen body's nodes do, in the order of the body.

// Sets the handles of a graph and of those inside it to what they start a launch with.
std::vector<Work> StartsOfHandles(const Graph& exec);
// A copy of the node's bodies: the exec may change or go before the work's turn.
Work ConditionalWork(const ConditionalParams& params);

// A WHILE node that starts with a value other than 0 and that nothing here sets to 0.
enum class Loop : uint8_t {
  kNone,
  kEndedByKernel,  // a kernel has the handle among its arguments
  kEndless
};
Loop FindLoop(const Graph& exec);

}  // namespace graphkit::soft::driver
