# graphkit: nothing
"""cuBLAS, cuFFT and cuSOLVER: products of every type, factorizations, transforms; those in a capture too."""
import cupy
from cupy import cublas

stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    for kind in (cupy.float16, cupy.float32, cupy.float64, cupy.complex64, cupy.complex128):
        matrix = cupy.zeros((32, 32), kind)
        assert (matrix @ matrix).dtype == kind
        assert (cupy.zeros((4, 8, 16), kind) @ cupy.zeros((4, 16, 2), kind)).shape == (4, 8, 2)
    matrix, vector = cupy.zeros((64, 64), cupy.float32), cupy.zeros(64, cupy.float32)
    result = cupy.zeros((64, 64), cupy.float32)
    cublas.gemm("N", "T", matrix, matrix, out=result)
    assert cublas.gemv("N", 1.0, matrix, vector, 0.0, cupy.zeros_like(vector)) is None
    cupy.linalg.cholesky(matrix + cupy.eye(64, dtype=cupy.float32))
    cupy.linalg.qr(matrix)
    for shape, transform in (((256,), cupy.fft.fft), ((16, 32), cupy.fft.fft2), ((8, 8, 8), cupy.fft.fftn)):
        assert transform(cupy.zeros(shape, cupy.complex64)).shape == shape
    assert cupy.fft.irfft(cupy.fft.rfft(cupy.zeros(128, cupy.float32))).shape == (128,)

    signal = cupy.zeros((16, 256), cupy.complex64)
    transformed = cupy.fft.fft(signal, axis=1)
    stream.synchronize()
    stream.begin_capture()
    result.data.memset_async(2, result.nbytes)
    for _ in range(2):
        cupy.copyto(signal, cupy.fft.fft(signal, axis=1))
    try:
        cublas.gemm("N", "N", matrix, matrix, out=result)
    except NotImplementedError as error:
        assert "during stream capture" in str(error)  # CuPy's own rule for cuBLAS
    graph = stream.end_capture()
    for _ in range(2):
        graph.launch()
stream.synchronize()
assert set(result.get().tobytes()) == {2}
