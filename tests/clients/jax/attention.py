# graphkit: nothing
"""Attention and its gradient as XLA writes them, in the types of training."""
import jax
import jax.numpy as jnp


@jax.jit
def step(q, k, v):
    def total(q):
        return jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="xla").astype(jnp.float32).sum()

    return jax.grad(total)(q)


q = jnp.ones((2, 256, 8, 64), jnp.bfloat16)
k, v = q + 1, q + 2
for _ in range(3):
    q = step(q, k, v)
assert q.block_until_ready().dtype == jnp.bfloat16
