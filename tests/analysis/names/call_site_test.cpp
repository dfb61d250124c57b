#include "libgraphkit/analysis/names/call_site.h"

#include <doctest/doctest.h>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

TEST_CASE("frames of installed packages, Python's own files and CUDA are libraries'") {
  CHECK(IsLibraryFrame("forward", "/venv/lib/python3.11/site-packages/torch/nn/linear.py"));
  CHECK(IsLibraryFrame("snapshot", "/opt/torch_hook/graphkit_torch_hook.py"));
  CHECK(IsLibraryFrame("observe", "/opt/torch_hook/graphkit_soft_torch.py"));
  CHECK(IsLibraryFrame("nvtxMemRegionsRegister", "/usr/local/cuda/include/nvtx3/nvtxDetail/a.h"));
  CHECK(IsLibraryFrame("launchKernel", "/home/me/.triton/cache/LTGL/cuda_utils.cpython-311.so"));
  CHECK(IsLibraryFrame("load", "/usr/lib/python3/dist-packages/numpy/core.py"));
  CHECK(IsLibraryFrame("run", "/opt/conda/lib/python3.13/threading.py"));
  CHECK(IsLibraryFrame("main", "/opt/conda/bin/python3.11"));
  CHECK(IsLibraryFrame("cfunction_call", "/src/python-3.11.9/Objects/methodobject.c"));
  CHECK(IsLibraryFrame("pymain_run_python", "./Modules/main.c"));
  CHECK_FALSE(IsLibraryFrame("main", "/home/me/Modules/main.c"));
  CHECK_FALSE(IsLibraryFrame("main", "src/Objects/main.c"));
  CHECK(IsLibraryFrame("f", "<frozen importlib._bootstrap>"));
  CHECK(IsLibraryFrame("call", "/tmp/any/36/c36qmjz5kfa3v2spwhx7o4tlnryb6ucgde2i3jk4.py"));
  CHECK_FALSE(IsLibraryFrame("call", "/tmp/any/36/c37qmjz5kfa3v2spwhx7o4tlnryb6ucgde2i3jk4.py"));
  CHECK(IsLibraryFrame("cudaMalloc", "./app"));
  CHECK(IsLibraryFrame("__device_stub__Z5TouchPf(float*)", "./app"));
  CHECK(IsLibraryFrame("main", "/cuda/targets/x86_64-linux/include/cuda_runtime.h"));
  CHECK(IsLibraryFrame("Emplace", "/usr/include/c++/12/bits/stl_vector.h"));
  CHECK(IsLibraryFrame("ncclAllReduce", "/opt/lib/graphkit/soft_cuda/libraries/libnccl.so.2"));
  CHECK(IsLibraryFrame("qsort", "/lib/x86_64-linux-gnu/libc.so.6"));
  CHECK(IsLibraryFrame("__pyx_f_4cupy_4cuda_6memory_alloc", "/work/cupy/cupy/cuda/memory.cpp"));
  CHECK(IsLibraryFrame("__Pyx_PyObject_Call", "/work/cupy/cupy/_core/core.cpp"));
  CHECK_FALSE(IsLibraryFrame("forward", "/home/user/torch/models/gpt.py"));
  CHECK_FALSE(IsLibraryFrame("Load", "/home/user/lib/libengine.so"));
  CHECK_FALSE(IsLibraryFrame("main", "./app"));
  CHECK_FALSE(IsLibraryFrame("serve", "/home/user/lib/python3.d/serve.py"));
}

TEST_CASE("a library's file is named without the folder that it is installed in") {
  CHECK(ShownFile("/v/lib/python3.11/site-packages/torch/nn/linear.py") == "torch/nn/linear.py");
  CHECK(ShownFile("/v/site-packages/nvidia/cublas/lib/libcublas.so.13") == "libcublas.so.13");
  CHECK(ShownFile("/opt/lib/python3.11/threading.py") == "threading.py");
  CHECK(ShownFile("/lib/x86_64-linux-gnu/libc.so.6") == "libc.so.6");
  CHECK(ShownFile("/home/user/train.py") == "/home/user/train.py");
}

TEST_CASE("a call site is the innermost frame of the program's own code") {
  TraceBuilder t;
  const StackId stack = t.Stack({{"cudaMallocAsync", "libcudart.so.13", 0},
                                 {"forward", "/v/site-packages/torch/nn/linear.py", 134},
                                 {"forward", "model.py", 17},
                                 {"step", "train.py", 30}});
  const StackId other = t.Stack({{"relu", "/v/site-packages/torch/nn/functional.py", 9},
                                 {"forward", "model.py", 17},
                                 {"step", "train.py", 31}});
  const StackId own = t.Stack({{"cudaMalloc", "libcudart.so.13", 0}, {"Load", "./app", 0}});
  const StackId library = t.Stack({{"init", "/v/site-packages/torch/cuda/a.py", 3}});
  const Ran trace = t.Build();
  const CallSite site = CallSiteOf(trace, stack);
  REQUIRE((site.own && site.inner));
  CHECK(PlaceOfFrame(trace, *site.own) == "model.py:17");
  CHECK(PlaceOfFrame(trace, *site.inner) == "nn/linear.py:134");
  CHECK(OwnPlace(trace, stack) == "model.py:17");
  CHECK(OwnPlace(trace, other) == "model.py:17");
  CHECK(OwnPlace(trace, own) == "./app");
  CHECK(OwnPlace(trace, library).empty());
  CHECK_FALSE(CallSiteOf(trace, own).inner.has_value());
  CHECK_FALSE(CallSiteOf(trace, library).own.has_value());
  CHECK(PlaceOfFrame(trace, *CallSiteOf(trace, library).inner) == "cuda/a.py:3");
  CHECK_FALSE(CallSiteOf(trace, {}).inner.has_value());
}

TEST_CASE("a place is a file's name with its folder, also of Windows") {
  CHECK(ShortPlace("/home/me/project/model/layer.py", 39) == "model/layer.py:39");
  CHECK(ShortPlace("C:\\Users\\me\\model\\layer.py", 39) == "model/layer.py:39");
  CHECK(ShortPlace("layer.py", 0) == "layer.py");
}

}  // namespace
}  // namespace graphkit
