#include "libgraphkit/analysis/names/call_site.h"

#include <doctest/doctest.h>

#include "libgraphkit/analysis/names/naming.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr const char* kTorch = "/v/lib/python3.12/site-packages/torch/";

std::string TorchFile(const char* file) { return std::string(kTorch) + file; }

struct Named {
  std::string title;
  MemoryRole role = MemoryRole::kOther;
  bool operator==(const Named&) const = default;
};

Named Name(TraceBuilder t, StackId stack) {
  const Ran trace = t.Build();
  return {MemoryTitle(trace, stack), NameOfStack(trace, stack).role};
}

TEST_CASE("without Python it is the innermost frame of the program's own") {
  TraceBuilder t;
  const StackId line = t.Stack({{"cudaMalloc", "/usr/local/cuda/lib64/libcudart.so.13", 0},
                                {"Allocate(unsigned long)", "/app/src/step.cu", 42},
                                {"main", "/app/src/main.cu", 7}});
  const StackId program = t.Stack({{"Allocate(unsigned long)", "/app/bin/step", 0}});
  const StackId unknown = t.Stack({{"Allocate(unsigned long)", "??", 0}});
  const Ran trace = t.Build();
  CHECK(MemoryTitle(trace, line) == "src/step.cu:42");
  CHECK(MemoryTitle(trace, program) == "bin/step");
  CHECK(MemoryTitle(trace, unknown) == "");
}

TEST_CASE("workspaces and benchmark buffers of libraries go under their own name") {
  const std::string triton = "/v/lib/python3.12/site-packages/triton/";
  TraceBuilder t;
  const FrameText program = {"step", "/app/train.py", 9};
  const StackId blas = t.Stack({{"torch::unwind::unwind()", "??", 0},
                                {"at::cuda::getNewWorkspace()", "??", 0},
                                {"at::cuda::getCurrentCUDABlasHandle()", "??", 0},
                                program});
  const StackId lt = t.Stack({{"at::cuda::getCUDABlasLtWorkspace()", "??", 0}, program});
  const StackId other =
      t.Stack({{"at::native::Workspace::Workspace(unsigned long)", "", 0}, program});
  const StackId buffer = t.Stack(
      {{"get_empty_cache_for_benchmark", triton + "backends/nvidia/driver.py", 7}, program});
  const StackId older = t.Stack({{"do_bench", triton + "testing.py", 137}, program});
  const StackId measured = t.Stack(
      {{"kernel", "/app/kernels.py", 3}, {"do_bench", triton + "testing.py", 137}, program});
  const StackId own = t.Stack({{"make_workspace", "/app/train.py", 5}});
  const StackId inductor =
      t.Stack({{"benchmark_gpu", TorchFile("_inductor/runtime/benchmarking.py"), 872}, program});
  const Ran trace = t.Build();
  CHECK(StackTitle(trace, blas) == "cuBLAS workspace");
  CHECK(StackTitle(trace, lt) == "cuBLASLt workspace");
  CHECK(StackTitle(trace, other) == "workspace of a library");
  CHECK(StackTitle(trace, buffer) == "Triton's benchmark buffer");
  CHECK(MemoryTitle(trace, older) == "Triton's benchmark buffer");
  CHECK(LibraryMemory(trace, measured).empty());
  CHECK(LibraryMemory(trace, own).empty());
  CHECK(MemoryTitle(trace, inductor) == "Inductor's benchmark buffer");
}

TEST_CASE("shards of FSDP, of DTensor and quantized weights are weights") {
  const std::string torchao = "/v/lib/python3.12/site-packages/torchao/";
  const auto role = [](std::string_view function, const std::string& file) {
    TraceBuilder t;
    const StackId stack = t.Stack({{function, file, 7}, {"<module>", "train.py", 9}});
    return NameOfStack(t.Build(), stack).role;
  };
  CHECK(role("_init_sharded_param", TorchFile("distributed/fsdp/_fully_shard/_fsdp_param.py")) ==
        MemoryRole::kWeights);
  CHECK(role("distribute_module", TorchFile("distributed/tensor/_api.py")) == MemoryRole::kWeights);
  CHECK(role("parallelize_module", TorchFile("distributed/tensor/parallel/api.py")) ==
        MemoryRole::kWeights);
  CHECK(role("distribute_tensor", TorchFile("distributed/tensor/_api.py")) == MemoryRole::kOther);
  CHECK(role("quantize_", torchao + "quantization/quant_api.py") == MemoryRole::kWeights);
  CHECK(role("step", torchao + "optim/adam.py") == MemoryRole::kOptimizer);
}

TEST_CASE("the line is the innermost Python frame outside torch and CPython, with the operator") {
  TraceBuilder t;
  const std::string module = TorchFile("nn/modules/module.py");
  const StackId stack = t.Stack(
      {{"torch::unwind::unwind()", "??", 0},
       {"at::_ops::empty_like::call(at::Tensor const&)", "??", 0},
       {"at::_ops::silu::call(at::Tensor const&)", "??", 0},
       {"torch::autograd::THPVariable_silu(_object*, _object*, _object*)", "", 0},
       {"_PyEval_EvalFrameDefault", "/build/Python/bytecodes.c", 3382},
       {"silu", TorchFile("nn/functional.py"), 2400},
       {"forward", "/v/lib/python3.12/site-packages/transformers/llama/modeling_llama.py", 216},
       {"_call_impl", module, 1750},
       {"<module>", "train.py", 21}});
  CHECK(Name(std::move(t), stack) ==
        Named{"llama/modeling_llama.py:216 silu", MemoryRole::kForward});
}

TEST_CASE("an operator's Python wrapper of the same name isn't the line") {
  TraceBuilder t;
  const StackId stack = t.Stack({{"torch::autograd::THPVariable_einsum(_object*)", "??", 0},
                                 {"einsum", "/app/functional.py", 407},
                                 {"forward", "/app/model.py", 39}});
  CHECK(Name(std::move(t), stack) == Named{"app/model.py:39 einsum", MemoryRole::kOther});
}

TEST_CASE("a thread of autograd has an operator and no line") {
  TraceBuilder t;
  const StackId stack =
      t.Stack({{"at::_ops::_log_softmax_backward_data::call(at::Tensor const&)", "??", 0},
               {"torch::autograd::generated::LogSoftmaxBackward0::apply(std::vector<>)", "??", 0},
               {"torch::autograd::Engine::thread_main(GraphTask const&)", "??", 0}});
  CHECK(Name(std::move(t), stack) == Named{"log_softmax backward", MemoryRole::kBackward});
}

TEST_CASE("an operator's overload isn't part of its name") {
  for (const auto& [entry, name] :
       {std::pair{"div_Tensor", "div"},
        {"sum_dim_IntList", "sum"},
        {"to_dtype_layout", "to"},
        {"scaled_dot_product_attention", "scaled_dot_product_attention"},
        {"_softmax", "_softmax"},
        {"add__Tensor", "add_"}}) {
    TraceBuilder t;
    const StackId stack =
        t.Stack({{"at::_ops::" + std::string(entry) + "::call()", "??", 0}, {"f", "a.py", 1}});
    CHECK(Name(std::move(t), stack).title == "a.py:1 " + std::string(name));
  }
}

TEST_CASE("without native frames the library's function is the operator") {
  TraceBuilder t;
  const StackId stack = t.Stack({{"forward", TorchFile("nn/modules/linear.py"), 134},
                                 {"_call_impl", TorchFile("nn/modules/module.py"), 1779},
                                 {"forward", "D:\\work\\lm\\model.py", 39}});
  CHECK(Name(std::move(t), stack) == Named{"lm/model.py:39 linear", MemoryRole::kForward});
}

TEST_CASE("what a backward or an optimizer runs forward again is theirs") {
  TraceBuilder t;
  const StackId stack = t.Stack({{"_call_impl", TorchFile("nn/modules/module.py"), 1779},
                                 {"_engine_run_backward", TorchFile("autograd/graph.py"), 800},
                                 {"step", "train.py", 9}});
  CHECK(Name(std::move(t), stack).role == MemoryRole::kBackward);
}

TEST_CASE("CUDA's frames alone say nothing") {
  TraceBuilder t;
  const StackId stack = t.Stack({{"cudaMalloc", "libcudart.so.13", 0}});
  CHECK(Name(std::move(t), stack) == Named{});
  CHECK(Name(TraceBuilder(), {}) == Named{});
}

}  // namespace
}  // namespace graphkit
