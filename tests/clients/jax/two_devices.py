# environment: GRAPHKIT_SOFT_DEVICES=memory=8GiB;memory=8GiB
# collectives: 12
"""One program on two devices: XLA captures NCCL's operations into the command buffer of each."""
import os

os.environ["XLA_FLAGS"] = "--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,COLLECTIVES"
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

assert len(jax.devices()) == 2, jax.devices()
mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))


@jax.jit
def work(a, b):
    for _ in range(4):
        a = jnp.tanh(a @ b)
        a = a / a.sum()
    return a


a = jax.device_put(jnp.ones((256, 256)), NamedSharding(mesh, PartitionSpec(None, "x")))
b = jax.device_put(jnp.ones((256, 256)), NamedSharding(mesh, PartitionSpec("x", None)))
for _ in range(3):
    a = work(a, b)
assert a.block_until_ready().shape == (256, 256)
