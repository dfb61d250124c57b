// Reads PyTorch's memory snapshots.
#pragma once

#include <string_view>

#include "libgraphkit/model/torch_snapshot.h"
#include "libgraphkit/result.h"

namespace graphkit {

// Reads what torch.cuda.memory._dump_snapshot wrote. Format: torch/csrc/cuda/Module.cpp and the
// docstring of torch.cuda.memory._snapshot in PyTorch. Keys that aren't known are passed over; a
// key of the wrong type, and a file that refers to the same events again and again, are errors.
Result<TorchSnapshot> ParseTorchSnapshot(std::string_view bytes);

}  // namespace graphkit
