#include "libgraphkit/io/files/plan_files.h"

#include "libgraphkit/io/files/json_file.h"

namespace graphkit {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostLayers = 100'000;
constexpr Bytes kLargestBuffer = Bytes{1} << 40;

Bytes BufferSize(JsonObject& object, const char* key) {
  const Bytes size = object.OptionalBytes(key).value_or(0);
  if (size > kLargestBuffer) object.Fail(key, "is more than 1 TiB");
  return size;
}

bool Flag(JsonObject& object, const char* key, bool otherwise) {
  const uint64_t flag = object.OptionalCount(key).value_or(otherwise ? 1 : 0);
  if (flag > 1) object.Fail(key, "is not 0 or 1");
  return flag == 1;
}

Result<std::vector<PipelineLayer>> ReadLayer(const Json& value, const std::string& where,
                                             const std::string& file, uint64_t* layers_so_far) {
  JsonObject object(value, where);
  PipelineLayer layer;
  layer.signature = object.String("signature");
  layer.input = BufferSize(object, "input");
  layer.output = BufferSize(object, "output");
  layer.saves_input = Flag(object, "saves_input", true);
  layer.saves_output = Flag(object, "saves_output", false);
  const uint64_t count = object.OptionalCount("count").value_or(1);
  if (count == 0 || count > kMostLayers - *layers_so_far) {
    object.Fail("count", "is 0, or makes more than 100000 layers in all");
  }
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  *layers_so_far += count;
  return std::vector<PipelineLayer>(count, layer);
}

Result<std::vector<PipelineLayer>> ReadChunk(const Json& values, const std::string& where,
                                             const std::string& file, uint64_t* layers_so_far) {
  std::vector<PipelineLayer> chunk;
  if (!values.is_array() || values.empty()) {
    return Error{
        .message = where + " is no list of layers",
        .hint = "write [{\"signature\": \"a\", \"input\": \"1MiB\", \"output\": \"1MiB\"}]",
        .file = file};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    auto layers = ReadLayer(values[i], where + "[" + std::to_string(i) + "]", file, layers_so_far);
    if (!layers) return layers.error();
    chunk.insert(chunk.end(), layers->begin(), layers->end());
  }
  return chunk;
}

}  // namespace

Result<PipelineLayers> ReadLayersFile(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path);
  if (!text) return text.error();
  return ParseLayers(*text, path);
}

Result<PipelineLayers> ParseLayers(const std::string& text, const std::string& file) {
  const Result<Json> json = ParseJson(text, file);
  if (!json) return json.error();
  JsonObject object(*json, "the file");
  ExpectSchema(object, "graphkit-layers", 1);
  const Json& chunks = object.Array("chunks");
  if (chunks.empty()) object.Fail("chunks", "is empty");
  if (const Result<void> ok = object.Finish(file); !ok) return ok.error();
  PipelineLayers layers;
  uint64_t layers_so_far = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    auto chunk = ReadChunk(chunks[i], "chunks[" + std::to_string(i) + "]", file, &layers_so_far);
    if (!chunk) return chunk.error();
    layers.chunks.push_back(*std::move(chunk));
  }
  return layers;
}

}  // namespace graphkit
