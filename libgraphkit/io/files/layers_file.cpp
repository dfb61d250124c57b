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

// A layer, as often as it says.
std::vector<PipelineLayer> ReadLayer(JsonObject& object, uint64_t* layers_so_far) {
  PipelineLayer layer;
  layer.signature = object.String("signature");
  layer.input = BufferSize(object, "input");
  layer.output = BufferSize(object, "output");
  layer.saves_input = Flag(object, "saves_input", true);
  layer.saves_output = Flag(object, "saves_output", false);
  const uint64_t count = object.OptionalCount("count").value_or(1);
  if (count == 0 || count > kMostLayers - *layers_so_far) {
    object.Fail("count", "is 0, or makes more than 100000 layers in all");
    return {};
  }
  *layers_so_far += count;
  return std::vector<PipelineLayer>(count, layer);
}

PipelineLayers ReadLayers(JsonObject& object) {
  ExpectSchema(object, "graphkit-layers", 1);
  const Json& chunks = object.Array("chunks");
  if (chunks.empty()) object.Fail("chunks", "is empty");
  PipelineLayers layers;
  uint64_t layers_so_far = 0;
  const auto read = [&](JsonObject& layer) { return ReadLayer(layer, &layers_so_far); };
  for (size_t i = 0; i < chunks.size() && !object.failed(); ++i) {
    const std::string where = "chunks[" + std::to_string(i) + "]";
    if (!chunks[i].is_array() || chunks[i].empty()) {
      object.Fail(
          {.message = where + " is no list of layers",
           .hint = "write [{\"signature\": \"a\", \"input\": \"1MiB\", \"output\": \"1MiB\"}]"});
    }
    std::vector<PipelineLayer>& chunk = layers.chunks.emplace_back();
    for (const auto& repeated : object.List(chunks[i], where, read)) {
      chunk.insert(chunk.end(), repeated.begin(), repeated.end());
    }
  }
  return layers;
}

}  // namespace

Result<PipelineLayers> ReadLayersFile(const std::string& path) {
  return ReadWith(ParseLayers, path);
}

Result<PipelineLayers> ParseLayers(const std::string& text, const std::string& file) {
  return ParseJsonFile(text, file, ReadLayers);
}

}  // namespace graphkit
