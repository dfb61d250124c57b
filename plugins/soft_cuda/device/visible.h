// Which GPUs of the machine a program sees, and in which order, when CUDA_VISIBLE_DEVICES is set:
// indices, or begins of UUIDs ("GPU-6772"), with commas between them. What is no GPU ends the list
// (CUDA programming guide, environment variables); one that is named twice leaves none (PyTorch's
// reading of the variable, torch/cuda/__init__.py).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphkit::soft {

// Places in the machine. `uuids` as NVML writes them, by place.
std::vector<size_t> VisiblePlaces(std::string_view setting, const std::vector<std::string>& uuids);

}  // namespace graphkit::soft
