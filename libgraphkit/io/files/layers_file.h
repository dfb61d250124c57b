// The layers of a pipeline's chunks, as a small file that people write:
//
//   {"schema": "graphkit-layers", "version": 1, "chunks": [
//     [{"signature": "8192x4096 bf16", "input": "64MiB", "output": "64MiB", "count": 4}],
//     [{"signature": "8192x4096 bf16", "input": "64MiB", "output": "64MiB", "count": 3},
//      {"signature": "8192x4096 to 8192x32000", "input": "64MiB", "output": "500MiB"}]]}
//
// `count` repeats a layer; `saves_input` (1) and `saves_output` (0) say what the backward reads.
// All chunks together have at most 100 000 layers, and buffers of at most 2^40 bytes.
#pragma once

#include <string>

#include "libgraphkit/model/pipeline_layers.h"
#include "libgraphkit/result.h"

namespace graphkit {

Result<PipelineLayers> ReadLayersFile(const std::string& path);
// The same of the file's text; errors name `file`.
Result<PipelineLayers> ParseLayers(const std::string& text, const std::string& file);

}  // namespace graphkit
