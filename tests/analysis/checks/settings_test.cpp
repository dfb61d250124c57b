#include "libgraphkit/analysis/checks/checks.h"

#include <doctest/doctest.h>

#include <fstream>

#include "libgraphkit/analysis/names/torch_options.h"

namespace graphkit {
namespace {

Process With(std::vector<std::string> environment) {
  Process process;
  process.environment = std::move(environment);
  return process;
}

std::vector<std::string> Explanations(const char* check, std::vector<std::string> environment) {
  std::vector<Finding> findings = {{.check = check}, {.check = check}};
  ExplainBySettings(With(std::move(environment)), &findings);
  CHECK(findings[1].evidence.empty());  // once a check
  std::vector<std::string> texts;
  for (const Evidence& evidence : findings[0].evidence) texts.push_back(evidence.text);
  return texts;
}

TEST_CASE("an option of PyTorch's allocator is found among the others, by both names") {
  const Process process = With(
      {"A=1",
       "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:[64:8,>:4], expandable_segments:True"});
  CHECK(FindSetting(process, "PYTORCH_ALLOC_CONF", "expandable_segments") == "True");
  CHECK(FindSetting(process, "PYTORCH_ALLOC_CONF", "roundup_power2_divisions") == "[64:8,>:4]");
  CHECK(FindSetting(process, "PYTORCH_ALLOC_CONF", "segments") == std::nullopt);
  CHECK(FindSetting(process, "A") == "1");
  CHECK(FindSetting(process, "B") == std::nullopt);
}

TEST_CASE("a setting that would help is named, and what is left when it is on") {
  CHECK(Explanations("deferred-record-stream", {"PYTORCH_ALLOC_CONF=backend:native"}) ==
        std::vector<std::string>{
            "PYTORCH_ALLOC_CONF has no graph_capture_record_stream_reuse: set "
            "graph_capture_record_stream_reuse:True there, and PyTorch reuses such blocks inside "
            "the capture where the graph orders their uses (pytorch/pytorch#158352 and #162186)"});
  const auto on = Explanations("deferred-record-stream",
                               {"PYTORCH_ALLOC_CONF=graph_capture_record_stream_reuse:True"});
  REQUIRE(on.size() == 1);
  CHECK(on[0].starts_with("PYTORCH_ALLOC_CONF=graph_capture_record_stream_reuse:True: PyTorch"));
}

TEST_CASE("a setting that the traced version of PyTorch lacks isn't named") {
  const auto told = [](const char* version) {
    return Explanations("deferred-record-stream", {version, "PYTORCH_CUDA_ALLOC_CONF="});
  };
  CHECK(told("PYTORCH_VERSION=2.6.0+cu126").empty());
  CHECK(told("PYTORCH_VERSION=2.8.0").empty());
  for (const char* version : {"PYTORCH_VERSION=2.9.0", "PYTORCH_VERSION=2.15.0a0"}) {
    REQUIRE(told(version).size() == 1);
    CHECK(told(version)[0].starts_with("PYTORCH_CUDA_ALLOC_CONF has no graph_capture"));
  }
}

constexpr const char* kOption = "graph_capture_record_stream_reuse";

TEST_CASE("advice names options as the traced version of PyTorch has them") {
  const auto set = [](std::vector<std::string> environment, const char* option = kOption) {
    return SetTorchOption(With(std::move(environment)), option);
  };
  const std::string on = "PYTORCH_CUDA_ALLOC_CONF=graph_capture_record_stream_reuse:True";
  CHECK(set({}) == on + " (since PyTorch 2.9)");
  CHECK(set({"PYTORCH_VERSION=2.15.0"}) == on);
  CHECK(set({"PYTORCH_VERSION=2.6.0"}) == "");
  CHECK(set({"PYTORCH_VERSION=2.6.0"}, "expandable_segments") ==
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  CHECK(set({"PYTORCH_ALLOC_CONF=backend:native"}, "expandable_segments") ==
        "PYTORCH_ALLOC_CONF=expandable_segments:True");
}

TEST_CASE("a setting that explains is told only when it is so") {
  CHECK(Explanations("serialized-branches", {"CUDA_DEVICE_MAX_CONNECTIONS=8"}).empty());
  CHECK(Explanations("serialized-branches", {"CUDA_DEVICE_MAX_CONNECTIONS=1"}).size() == 1);
  CHECK(Explanations("nccl-multi-segment", {"NCCL_GRAPH_REGISTER=0"}).empty());
}

TEST_CASE("nothing is said where nothing is known") {
  CHECK(Explanations("deferred-record-stream", {}).empty());
  // No sign of PyTorch.
  CHECK(Explanations("deferred-record-stream", {"CUDA_DEVICE_MAX_CONNECTIONS=8"}).empty());
  CHECK(Explanations("graph-leak", {"PYTORCH_ALLOC_CONF=backend:native"}).empty());
}

TEST_CASE("rules name checks that exist, and docs/pytorch.md has their variables and sources") {
  std::ifstream file(GRAPHKIT_TESTDATA "/../docs/pytorch.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const SettingRule& rule : SettingRules()) {
    CAPTURE(rule.check);
    CAPTURE(rule.variable);
    CHECK(FindCheck(rule.check) != nullptr);
    CHECK(page.find(rule.check) != std::string::npos);
    CHECK(page.find(rule.variable) != std::string::npos);
    CHECK(page.find(rule.source) != std::string::npos);
  }
}

}  // namespace
}  // namespace graphkit
