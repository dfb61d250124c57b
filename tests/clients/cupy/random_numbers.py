# graphkit: nothing
"""Random numbers: cuRAND's host interface, and CuPy's own generators, which run in kernels."""
import cupy

stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    cupy.random.seed(3)
    state = cupy.random.RandomState(seed=5)
    for made in (state.uniform(size=100), state.normal(size=(3, 7), dtype=cupy.float32), cupy.random.rand(9),
                 cupy.random.lognormal(size=8)):
        assert made.dtype.kind == "f"
    assert cupy.random.randint(0, 9, size=17).shape == (17,)
    generator = cupy.random.Generator(cupy.random.Philox4x3210(7))
    assert generator.random(33).shape == (33,) and generator.standard_normal(4).shape == (4,)

    target = cupy.empty(1000, cupy.float32)
    generator.random(out=target, dtype=cupy.float32)
    stream.synchronize()
    stream.begin_capture()
    generator.random(out=target, dtype=cupy.float32)
    graph = stream.end_capture()
    graph.launch()
stream.synchronize()
