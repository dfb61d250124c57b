// Options of PyTorch that advice names, by the versions that have them.
#pragma once

#include <string>
#include <string_view>

#include "libgraphkit/model/process.h"

namespace graphkit {

// The variable that holds the settings of PyTorch's allocator: the one that the process has, else
// PYTORCH_CUDA_ALLOC_CONF, which all versions read (PYTORCH_ALLOC_CONF: those since 2.9).
std::string_view AllocConfName(const Process& process);

// How to switch an option of the allocator on:
// "PYTORCH_CUDA_ALLOC_CONF=graph_capture_record_stream_reuse:True"; with "(since PyTorch 2.9)"
// where the trace doesn't say its version; empty: its version doesn't have the option.
std::string SetTorchOption(const Process& process, std::string_view option);

}  // namespace graphkit
