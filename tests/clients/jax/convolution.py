# graphkit: nothing
"""Convolutions and their gradients by cuDNN, in command buffers."""
import os

os.environ["XLA_FLAGS"] = "--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUDNN,CUSTOM_CALL"
import jax
import jax.numpy as jnp


def loss(weights, x):
    for weight in weights:
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return x.astype(jnp.float32).mean()


x = jnp.ones((8, 32, 32, 64), jnp.bfloat16)
weights = [jnp.ones((3, 3, 64, 64), jnp.bfloat16) for _ in range(3)]
step = jax.jit(jax.grad(loss))
for _ in range(3):
    weights = step(weights, x)
jax.block_until_ready(weights)
