# graphkit: nothing
"""A step of a perceptron: XLA's command buffer of it is updated where a donated parameter lies elsewhere in the next step."""
import jax
import jax.numpy as jnp

SIZES = (256, 512, 512, 512, 128)


def loss(parameters, x, y):
    for weight, bias in parameters[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = parameters[-1]
    return jnp.mean((x @ weight + bias - y) ** 2)


def step(parameters, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, jax.grad(loss)(parameters, x, y))


keys = jax.random.split(jax.random.key(0), len(SIZES))
parameters = [(jax.random.normal(k, (a, b)) * 0.02, jnp.zeros(b)) for k, a, b in zip(keys, SIZES, SIZES[1:])]
x, y = jnp.ones((64, SIZES[0])), jnp.ones((64, SIZES[-1]))
step = jax.jit(step, donate_argnums=0)
for _ in range(4):
    parameters = step(parameters, x, y)
jax.block_until_ready(parameters)
assert [(w.shape, b.shape) for w, b in parameters] == [((a, b), (b,)) for a, b in zip(SIZES, SIZES[1:])]
assert jax.devices()[0].platform == "gpu"
