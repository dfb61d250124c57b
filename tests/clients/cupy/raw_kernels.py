# graphkit: nothing
"""Kernels of the user's own, compiled by NVRTC: raw ones, modules with constants, elementwise and reductions."""
import cupy
import numpy

add = cupy.RawKernel(r"""
extern "C" __global__ void add(const float* a, const float* b, float* to, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = a[i] + b[i];
}""", "add")
assert add.attributes["num_regs"] > 0 and add.max_threads_per_block >= 256
module = cupy.RawModule(code=r"""
__constant__ float factors[4];
template <typename T> __global__ void scale(T* values, size_t count) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factors[i % 4];
}""", options=("--std=c++17",), name_expressions=["scale<float>", "scale<double>"])
scale = module.get_function("scale<double>")
factors = cupy.ndarray(4, cupy.float32, module.get_global("factors"))
factors.set(numpy.arange(4, dtype=numpy.float32))
assert factors.get().tolist() == [0, 1, 2, 3]
squares = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squares")
norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")


@cupy.fuse
def fused(x, y):
    return x * y + x


stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    a, b, to = (cupy.zeros(1000, cupy.float32) for _ in range(3))
    wide, one = cupy.zeros(1000), cupy.empty((), cupy.float32)

    def work():
        add((4,), (256,), (a, b, to, numpy.int32(1000)))
        scale((4,), (256,), (wide, numpy.uint64(1000)), shared_mem=1024)
        squares(a, b, to)
        norm(to, one)
        cupy.copyto(to, fused(a, b))

    work()
    stream.synchronize()
    stream.begin_capture()
    work()
    graph = stream.end_capture()
    graph.launch()
stream.synchronize()
try:
    cupy.RawKernel("this is no kernel", "this").compile()
except cupy.cuda.compiler.CompileException as error:
    assert "error" in str(error)
else:
    raise AssertionError("nonsense was compiled")
