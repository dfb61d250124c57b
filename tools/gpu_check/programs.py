"""Real programs by others, small, for tools/gpu_check.sh: each captures CUDA graphs and replays them.

    programs.py               the names
    programs.py NAME          runs it; exit code 77: what it needs isn't installed, or can't be used here
    programs.py NAME --time   prints the seconds of its captures and of its replays instead
"""

import argparse
import importlib
import os
import sys
import time

SKIPPED = 77


def need(*names):
    """The modules, or the end of the program."""
    try:
        modules = [importlib.import_module(name) for name in names]
    except Exception as error:  # noqa: BLE001: some fail in ways of their own where there is no GPU
        print(f"skipped: {error}", file=sys.stderr)
        sys.exit(SKIPPED)
    return modules[0] if len(modules) == 1 else modules


def need_torch():
    torch = need("torch")
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU", file=sys.stderr)
        sys.exit(SKIPPED)
    return torch


def timed(torch, capture, replay, rounds=20):
    """How long captures and replays take, the best of several."""
    captures, replays = [], []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        graph = capture()
        captures.append(time.perf_counter() - begin)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(100):
            replay(graph)
        torch.cuda.synchronize()
        replays.append((time.perf_counter() - begin) / 100)
    return min(captures), min(replays)


def graphed(torch, step, measure):
    """Warms a step up, captures it, replays it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)

    def capture():
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph

    if measure:
        return timed(torch, capture, lambda graph: graph.replay())
    graph = capture()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    return None


def torch_inference(measure):
    """A transformer block."""
    torch = need_torch()
    block = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0).cuda().eval()
    tokens = torch.randn(8, 128, 256, device="cuda")

    def step():
        with torch.no_grad():
            return block(tokens)

    return graphed(torch, step, measure)


def torch_training(measure):
    """A training step whose gradients are summed on a second stream, which record_stream tells of."""
    torch = need_torch()
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data, side = torch.randn(64, 512, device="cuda"), torch.cuda.Stream()

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = model(data).square().mean()
        loss.backward()
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side):
            for parameter in model.parameters():
                doubled = parameter.grad * 2
                doubled.record_stream(side)
                parameter.grad.copy_(doubled / 2)
        main.wait_stream(side)
        optimizer.step()

    model(data).sum().backward()  # so that there are gradients to set to zero
    return graphed(torch, step, measure)


def torch_own_allocator(measure):
    """The same step with graphkit's allocator in place of PyTorch's; its figures are printed."""
    import pathlib  # noqa: PLC0415
    checkout = pathlib.Path(__file__).resolve().parents[2]
    sys.path.insert(0, str(checkout / ".gpu"))
    own = need("cudagraphkit.torch_allocator")
    need_torch()
    own.enable()
    result = torch_training(measure)
    print(own.figures(0), file=sys.stderr)
    return result


def torch_compile(measure):
    """torch.compile with CUDA graphs."""
    torch = need_torch()
    function = torch.compile(lambda x, y: torch.nn.functional.gelu(x @ y).sum(dim=1), mode="reduce-overhead")
    x, y = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    for _ in range(5):
        function(x, y)
    torch.cuda.synchronize()


def triton_kernel(measure):
    """A kernel of Triton's, captured."""
    torch = need_torch()
    triton = need("triton")
    import triton.language as tl  # noqa: PLC0415

    @triton.jit
    def add(a, b, out, n, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out + at, tl.load(a + at, at < n) + tl.load(b + at, at < n), at < n)

    a, b = torch.randn(4096, device="cuda"), torch.randn(4096, device="cuda")
    out = torch.empty_like(a)
    return graphed(torch, lambda: add[(4,)](a, b, out, 4096, 1024), measure)


def nccl_one_gpu(measure):
    """Collectives in a graph, in a group of one."""
    torch = need_torch()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", RANK="0", WORLD_SIZE="1")
    try:
        torch.distributed.init_process_group("nccl")
    except Exception as error:  # noqa: BLE001
        print(f"skipped: {error}", file=sys.stderr)
        sys.exit(SKIPPED)
    data = torch.ones(1 << 20, device="cuda")
    result = graphed(torch, lambda: torch.distributed.all_reduce(data), measure)
    torch.distributed.destroy_process_group()
    return result


def jax_scan(measure):
    """A jitted loop: XLA makes graphs of its command buffers."""
    jax = need("jax")
    if not any(device.platform in ("gpu", "cuda") for device in jax.devices()):
        print("skipped: JAX sees no GPU", file=sys.stderr)
        sys.exit(SKIPPED)
    x = jax.numpy.ones((256, 256))
    step = jax.jit(lambda a: jax.numpy.tanh(a @ a) / 256)
    for _ in range(10):
        x = step(x)
    x.block_until_ready()


def cupy_capture(measure):
    """CuPy's stream capture, with cuBLAS in it."""
    cupy = need("cupy")
    try:
        stream = cupy.cuda.Stream(non_blocking=True)
        a = cupy.ones((128, 128), dtype=cupy.float32)
    except Exception as error:  # noqa: BLE001
        print(f"skipped: {error}", file=sys.stderr)
        sys.exit(SKIPPED)
    out = cupy.empty_like(a)
    with stream:
        cupy.add(a, a, out=out)
        cupy.matmul(a, a, out=out)  # before the capture: handles, kernels
        stream.begin_capture()
        cupy.add(a, a, out=out)
        cupy.multiply(out, a, out=out)
        graph = stream.end_capture()
        graph.launch(stream)
    stream.synchronize()


PROGRAMS = {f.__name__: f for f in (torch_inference, torch_training, torch_own_allocator, torch_compile, triton_kernel,
                                    nccl_one_gpu, jax_scan, cupy_capture)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?", choices=PROGRAMS)
    parser.add_argument("--time", action="store_true")
    arguments = parser.parse_args()
    if arguments.name is None:
        print("\n".join(PROGRAMS))
        return
    result = PROGRAMS[arguments.name](arguments.time)
    if arguments.time:
        print("{:.6f} {:.6f}".format(*result) if result else "nan nan")


if __name__ == "__main__":
    main()
