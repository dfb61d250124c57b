# graphkit: nothing
"""Loops and branches in command buffers: conditional nodes, with and without loops of their own."""
import os

os.environ["XLA_FLAGS"] = ("--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer="
                           "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CONDITIONAL,WHILE,DYNAMIC_SLICE_FUSION")
import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def work(x, limit, flag):
    x = lax.fori_loop(0, 5, lambda _, v: jnp.sin(v) @ v, x)
    x = lax.while_loop(lambda s: s[0] < limit, lambda s: (s[0] + 1, jnp.cos(s[1]) + s[1].sum()), (0, x))[1]
    x = lax.cond(flag, lambda v: v * 2 + v.sum(), lambda v: v @ v, x)
    x = lax.switch(limit, [jnp.sin, jnp.cos, lambda v: v @ v], x)
    return lax.scan(lambda v, t: (v * t + v.sum(), None), x, jnp.arange(4.0))[0]


x = jnp.ones((128, 128))
for _ in range(3):
    x = work(x, 0, False)  # kernels don't run here: what a loop waits for must be there already
x.block_until_ready()
