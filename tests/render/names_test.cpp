#include "libgraphkit/analysis/names/naming.h"

#include <doctest/doctest.h>

#include "tests/build_trace.h"
#include "tests/render/sample_report.h"

namespace graphkit {

TEST_CASE("mangled names are demangled, others stay") {
  CHECK(Demangle("_Z5scaleIfEvPT_S0_i") == "void scale<float>(float*, float, int)");
  CHECK(Demangle("triton_poi_fused_add_0") == "triton_poi_fused_add_0");
  CHECK(Demangle("_Znot a mangled name") == "_Znot a mangled name");
  CHECK(Demangle("_Z\n") == "_Z\\n");
}

TEST_CASE("short names are what a person calls the function") {
  CHECK(ShortName("void scale<float>(float*, float, int)", 40) == "scale<…>");
  CHECK(ShortName("triton_poi_fused_add_0", 40) == "triton_poi_fused_add_0");
  CHECK(ShortName("void at::native::(anonymous namespace)::fill<4, f<int> >(int, g<h>)", 40) ==
        "at::native::fill<…>");
  CHECK(ShortName("void at::native::vectorized_elementwise_kernel<4>(int)", 32) ==
        "vectorized_elementwise_kernel<…>");
  CHECK(ShortName("a::f(int)::{lambda(float)#1}::operator()(float) const", 60) ==
        "a::f(int)::{lambda(float)#1}::operator()");
  CHECK(ShortName("bool operator< <int>(S<int> const&, S<int> const&)", 40) == "operator< <…>");
  CHECK(ShortName(std::string(10000, 'x'), 10) == "xxxxxx…xxx");
  CHECK(ShortName("<module>", 40) == "<module>");
  CHECK(ShortName("", 10) == "");
  CHECK(ShortName(")(>><(", 10).size() <= 30);
}

TEST_CASE("things are named by their ids and their own names") {
  const Ran trace = SampleTrace();
  CHECK(NodeTitle(trace, NodeId(0u), 40) == "scale<…>");
  CHECK(NodeTitle(trace, NodeId(1u), 40) == "memcpy");
  CHECK(StreamTitle(trace, StreamId(0u)) == "legacy default stream");
  CHECK(StreamTitle(trace, StreamId(2u)) == "stream 2 \"copy\"");
  CHECK(StreamTitle(trace, StreamId()) == "no stream");
  CHECK(GraphTitle(GraphId(3u), "graph 3") == "graph 3");
  CHECK(GraphTitle(GraphId(3u), "graph 4") == "graph 3 \"graph 4\"");
  CHECK(GraphTitle(trace, GraphId(0u)) == "graph 0 \"step\"");
  CHECK(StackTitle(trace, StackId(0u)) == "step.cu:42 step");
}

TEST_CASE("a process is named by its device, and by what its driver's edges lack") {
  const auto title = [](DeviceKind device, const char* name) { return DeviceTitle(device, name); };
  CHECK(title(DeviceKind::kSoft, "any") == "recorded on the software device (simulated)");
  CHECK(title(DeviceKind::kCuda, "NVIDIA GH200\n") == "recorded on NVIDIA GH200\\n");
  CHECK(title(DeviceKind::kCuda, "") == "recorded on a CUDA device");
  CHECK(title(DeviceKind::kImported, "") == "imported from another tool's file");
  const auto missing = [](int driver) {
    std::vector<std::string> notes;
    AddMissingEdgeData({.driver_version = driver}, notes);
    return notes;
  };
  CHECK(missing(12000) == std::vector<std::string>{"edge data not available (CUDA 12.0)"});
  CHECK(missing(12020) == std::vector<std::string>{"edge data not available (CUDA 12.2)"});
  CHECK(missing(12030).empty());
  CHECK(missing(0).empty());  // unknown
}

TEST_CASE("a stack is named by the program's own line first, then by what it called") {
  TraceBuilder t;
  const StackId both = t.Stack({{"cudaMalloc", "libcudart.so.13", 0},
                                {"forward", "/v/site-packages/torch/nn/linear.py", 134},
                                {"forward", "model.py", 17}});
  const StackId library = t.Stack({{"init", "/v/site-packages/nvidia/lib/libcublas.so.13", 0}});
  const StackId cuda = t.Stack({{"cudaMalloc", "libcudart.so.13", 0}});
  const StackId framework = t.Stack({{"__torch_function__", "/v/site-packages/torch/_ops.py", 135},
                                     {"create", "/v/site-packages/vllm/layers.py", 19},
                                     {"load", "/v/site-packages/vllm/model.py", 7}});
  const StackId started = t.Stack({{"__torch_function__", "/v/site-packages/torch/_ops.py", 135},
                                   {"create", "/v/site-packages/vllm/layers.py", 19},
                                   {"main", "serve.py", 2}});
  const Ran trace = t.Build();
  CHECK(StackTitle(trace, framework) == "vllm/layers.py:19 create");
  CHECK(StackTitle(trace, started) == "serve.py:2 main, in vllm/layers.py:19 create");
  CHECK(StackTitle(trace, both) == "model.py:17 forward, in nn/linear.py:134 forward");
  CHECK(StackTitle(trace, library) == "libcublas.so.13 init");
  CHECK(StackTitle(trace, cuda) == "libcudart.so.13 cudaMalloc");
  CHECK(StackTitle(trace, {}).empty());
}

}  // namespace graphkit
