#include "libgraphkit/io/layers_file.h"

#include "libgraphkit/io/json_file.h"

namespace graphkit {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostLayers = 100'000;

Result<std::vector<PipelineLayer>> ReadLayer(const Json& value, const std::string& where,
                                             const std::string& file) {
  JsonObject object(value, where);
  PipelineLayer layer;
  layer.signature = object.String("signature");
  layer.input = object.OptionalBytes("input").value_or(0);
  layer.output = object.OptionalBytes("output").value_or(0);
  layer.saves_input = object.OptionalCount("saves_input").value_or(1) != 0;
  layer.saves_output = object.OptionalCount("saves_output").value_or(0) != 0;
  const uint64_t count = object.OptionalCount("count").value_or(1);
  if (count == 0 || count > kMostLayers) object.Fail("count", "is not between 1 and 100000");
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  return std::vector<PipelineLayer>(count, layer);
}

Result<std::vector<PipelineLayer>> ReadChunk(const Json& values, const std::string& where,
                                             const std::string& file) {
  std::vector<PipelineLayer> chunk;
  if (!values.is_array() || values.empty()) {
    return Error{
        .message = where + " is no list of layers",
        .hint = "write [{\"signature\": \"a\", \"input\": \"1MiB\", \"output\": \"1MiB\"}]",
        .file = file};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    auto layers = ReadLayer(values[i], where + "[" + std::to_string(i) + "]", file);
    if (!layers) return layers.error();
    chunk.insert(chunk.end(), layers->begin(), layers->end());
  }
  return chunk;
}

}  // namespace

Result<PipelineLayers> ReadLayersFile(const std::string& path) {
  const Result<Json> json = ReadJsonFile(path);
  if (!json) return json.error();
  JsonObject object(*json, "the file");
  ExpectSchema(object, "graphkit-layers", 1);
  const std::vector<Json> chunks = object.Array("chunks");
  if (chunks.empty()) object.Fail("chunks", "is empty");
  if (const Result<void> ok = object.Finish(path); !ok) return ok.error();
  PipelineLayers layers;
  for (size_t i = 0; i < chunks.size(); ++i) {
    auto chunk = ReadChunk(chunks[i], "chunks[" + std::to_string(i) + "]", path);
    if (!chunk) return chunk.error();
    layers.chunks.push_back(*std::move(chunk));
  }
  return layers;
}

}  // namespace graphkit
