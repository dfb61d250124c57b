// The layers of a pipeline, as people write them.
#include "libgraphkit/io/files/plan_files.h"

#include <doctest/doctest.h>

#include <string>

namespace graphkit {
namespace {

std::string LayersText(const std::string& layers) {
  return R"({"schema":"graphkit-layers","version":1,"chunks":[[)" + layers + "]]}";
}

std::string WrongLayers(const std::string& layers) {
  const auto parsed = ParseLayers(LayersText(layers), "layers.json");
  INFO(layers);
  REQUIRE_FALSE(parsed);
  return parsed.error().message;
}

TEST_CASE("layers are read and repeated") {
  const auto layers = ParseLayers(
      LayersText(R"({"signature":"a","input":"1KiB","output":5,"saves_output":1,"count":2})"), "");
  REQUIRE(layers);
  const PipelineLayer layer{.signature = "a", .input = 1024, .output = 5, .saves_output = true};
  CHECK(layers->chunks == std::vector<std::vector<PipelineLayer>>{{layer, layer}});
}

TEST_CASE("no number of a layer is beyond measure, and a flag is 0 or 1") {
  CHECK(WrongLayers(R"({"signature":"a","input":1099511627777})") ==
        "chunks[0][0]: \"input\" is more than 1 TiB");
  CHECK(WrongLayers(R"({"signature":"a","output":18446744073709551615})") ==
        "chunks[0][0]: \"output\" is more than 1 TiB");
  CHECK(WrongLayers(R"({"signature":"a","saves_input":4294967296})") ==
        "chunks[0][0]: \"saves_input\" is not 0 or 1");
  const std::string half = R"({"signature":"a","count":60000})";
  CHECK(WrongLayers(half + "," + half) ==
        "chunks[0][1]: \"count\" is 0, or makes more than 100000 layers in all");
  CHECK(WrongLayers(R"({"signature":"a","count":18446744073709551615})") ==
        "chunks[0][0]: \"count\" is 0, or makes more than 100000 layers in all");
}

}  // namespace
}  // namespace graphkit
