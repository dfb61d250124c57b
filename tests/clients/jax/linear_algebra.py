# graphkit: nothing
"""Factorizations by cuSOLVER and transforms by cuFFT, in command buffers as far as XLA captures them."""
import os

os.environ["XLA_FLAGS"] = "--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL"
import jax
import jax.numpy as jnp


@jax.jit
def work(a):
    q, r = jnp.linalg.qr(a)
    e, v = jnp.linalg.eigh(a)
    u, s, _ = jnp.linalg.svd(a)
    return jnp.linalg.cholesky(a) + q + r + e + v + u + s + jnp.fft.fft2(a).real + jnp.linalg.solve(a, q)


a = jnp.eye(64)
for _ in range(3):
    result = work(a)
assert result.block_until_ready().shape == (64, 64)
