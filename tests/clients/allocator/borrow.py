"""Work between the launches of a graph in the memory that the graph leaves unused, and all that may go wrong with it.

    borrow.py [without]         without: the same work in memory of its own

Prints the bytes reserved from the driver at the end.
"""

import importlib.util
import pathlib
import sys

import torch

MIB = 1 << 20
LENDS = sys.argv[1:] != ["without"]
path = pathlib.Path(__file__).resolve().parents[3] / "plugins/python/cudagraphkit/torch_allocator.py"
spec = importlib.util.spec_from_file_location("cudagraphkit.torch_allocator", path)
torch_allocator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(torch_allocator)
torch_allocator.enable(borrow=LENDS)


def capture(floats, pool=None):
    x = torch.ones(floats, device="cuda")
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, pool=pool):
        activation = x * 2
        output = activation[: floats // 4] + 1
        del activation
    return graph, x, output


def refused(what, action):
    try:
        action()
    except RuntimeError as error:
        print(f"{what}: {error}")
        return str(error)
    raise SystemExit(f"{what}: nothing was said")


def span(tensor):
    return tensor.data_ptr(), tensor.data_ptr() + tensor.untyped_storage().nbytes()


graph, static, output = capture(16 * MIB)  # an activation of 64 MiB, an output of 16 MiB
side = torch.cuda.Stream()
kept = None
for _ in range(3):
    graph.replay()
    if not LENDS:
        scores = torch.empty(48 * MIB, dtype=torch.uint8, device="cuda")
        scores.zero_()
        continue
    with torch_allocator.borrow(graph) as lent:
        assert lent.bytes >= 64 * MIB, lent.bytes
        scores = torch.empty(48 * MIB, dtype=torch.uint8, device="cuda")
        scores.zero_()
        (begin, end), (first, last) = span(scores), span(output)
        assert end <= first or last <= begin, "it lies in the output"
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            scores.fill_(7)
        scores.record_stream(side)
        del scores
    with torch.cuda.stream(side):
        graph.replay()  # on another stream than the borrower's
torch.cuda.synchronize()
print("reserved", torch.cuda.memory_reserved())

if LENDS:

    def late():
        global kept
        with torch_allocator.borrow(graph.pool()):
            kept = torch.empty(MIB, dtype=torch.uint8, device="cuda")

    def launch_inside():
        with torch_allocator.borrow(graph):
            graph.replay()

    def capture_inside():
        with torch_allocator.borrow(graph):
            capture(1024)

    said = refused("late", late)
    assert "1048576 bytes allocated at borrow.py:" in said and " late" in said, said
    assert "is given back: 1048576 bytes" in refused("launch before the return", graph.replay)
    refused("borrowed twice", lambda: torch_allocator.borrow(graph).__enter__())
    kept = None
    graph.replay()  # now it is back
    assert "is launched at borrow.py:" in refused("launch inside", launch_inside)
    assert "a capture begins" in refused("capture inside", capture_inside)
    graph.replay()
    torch.cuda.synchronize()
    figures = torch_allocator.figures()
    assert figures["borrowed"] == 5 and figures["peak_borrowed"] == 48 * MIB, figures
print("done")
