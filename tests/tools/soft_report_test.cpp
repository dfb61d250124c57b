#include <sstream>

#include <doctest/doctest.h>

#include "tools/graphkit/doctor/soft_inventory.h"

namespace graphkit {

namespace {

// A modelled, an unchecked and a missing function, and one that was seen on a GPU.
std::vector<SoftFunction> Functions() {
  return {{"cudaStreamCreate", "stream", "stream"},
          {"cudaDeviceReset", "device", ""},
          {"cudaMallocArray", "", ""},
          {"cudaGetDeviceCount", "device", "device", true}};
}

std::string Text(std::optional<SoftList> list) {
  std::ostringstream out;
  RenderSoftText({{"libcudart.so.13", Functions()}, {"libcupti.so.13", {}}}, list, {{}, out});
  return out.str();
}

std::string JsonOf(std::optional<SoftList> list) {
  std::ostringstream out;
  RenderSoftJson({{"libcudart.so.13", Functions()}}, list, out);
  return out.str();
}

constexpr const char* kCounts = R"(The software device (simulated)

                                             functions  modelled         unchecked  missing
libcudart.so.13                                      4         2  50.0%          1        1
  streams, events, captures, graphs, memory          2         1  50.0%          0        1
libcupti.so.13                                       0         0      -          0        0

Modelled: a conformance test checks its effect and one of its errors. Unchecked: answers, and no
test checks both. Missing: reports its name on stderr and returns "not supported".
Unseen on hardware: 2 of the 3 functions that answer. They follow NVIDIA's headers and
documentation. A conformance program checked an effect of each of the others on an H200
(docs/hardware.md).
)";

}  // namespace

TEST_CASE("a function is modelled when a test checks it, and missing when it has no family") {
  CHECK(SoftFunction{"f", "stream", "stream"}.state() == SoftState::kModelled);
  CHECK(SoftFunction{"f", "stream", ""}.state() == SoftState::kUnchecked);
  CHECK(SoftFunction{"f", "", ""}.state() == SoftState::kMissing);
  CHECK(Count(Functions()) ==
        SoftCount{.functions = 4, .modelled = 2, .unchecked = 1, .missing = 1, .unseen = 2});
}

TEST_CASE("streams, events, captures, graphs and memory are what graph programs live on") {
  for (const char* name : {"cudaStreamBeginCapture_ptsz", "cudaEventRecord", "cudaGraphAddNode",
                           "cudaThreadExchangeStreamCaptureMode", "cudaUserObjectCreate",
                           "cudaMemcpyAsync", "cudaHostAlloc", "cudaDeviceGraphMemTrim"}) {
    CAPTURE(name);
    CHECK(IsCore(name));
  }
  for (const char* name : {"cudaGraphicsUnregisterResource", "cudaDeviceReset", "cudaSetDevice",
                           "cuStreamCreate", "cuptiSubscribe"}) {
    CAPTURE(name);
    CHECK_FALSE(IsCore(name));
  }
}

TEST_CASE("the text counts, and lists what is asked for") {
  CHECK(Text({}) == kCounts);
  CHECK(Text(SoftList::kMissing) == std::string(kCounts) +
                                        "\nlibcudart.so.13\n"
                                        "  cudaMallocArray  missing\n");
  CHECK(Text(SoftList::kUnseen) == std::string(kCounts) + R"(
libcudart.so.13
  cudaStreamCreate  modelled   stream  checked by stream
  cudaDeviceReset   unchecked  device
)");
}

TEST_CASE("the JSON has the same counts") {
  CHECK(JsonOf(SoftList::kUnchecked) == R"({
  "schema": "graphkit-doctor-soft",
  "version": 1,
  "libraries": [
    {
      "name": "libcudart.so.13",
      "count": {
        "functions": 4,
        "modelled": 2,
        "unchecked": 1,
        "missing": 1,
        "unseen": 2
      },
      "core": {
        "functions": 2,
        "modelled": 1,
        "unchecked": 0,
        "missing": 1,
        "unseen": 1
      },
      "list": [
        {
          "name": "cudaDeviceReset",
          "state": "unchecked",
          "family": "device",
          "test": "",
          "seen": false
        }
      ]
    }
  ]
}
)");
}

TEST_CASE("without the plugin the error says what to do") {
  const auto libraries = ReadSoftInventory("/nowhere");
  REQUIRE_FALSE(libraries);
  CHECK(Describe(libraries.error()) ==
        "/nowhere/soft_cuda/libcuda.so.1: the software device is missing; build with the CUDA 13 "
        "headers, which tools/setup.sh installs");
}

}  // namespace graphkit
