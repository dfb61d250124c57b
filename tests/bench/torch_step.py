"""Processor time of a replay, an uncaptured step and a capture of a GPT training step, in ms: to be run with and
without `graphkit trace`, in turn (docs/performance.md).

    graphkit trace --device soft -o step.json -- python tests/bench/torch_step.py
"""

import pathlib
import runpy
import statistics
import time

program = runpy.run_path(str(pathlib.Path(__file__).parents[1] / "clients/torch/gpt.py"))
torch, step, graph = program["torch"], program["step"], program["graph"]


def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        step()


def milliseconds(call, times):
    """The median of so many calls."""
    spent = []
    for _ in range(times):
        before = time.process_time()
        call()
        spent.append(time.process_time() - before)
    torch.cuda.synchronize()
    return 1000 * statistics.median(spent)


for name, call, times in (("replay", graph.replay, 300), ("uncaptured step", step, 60), ("captured step", capture, 20)):
    print(f"{name}: {milliseconds(call, times):.3f} ms")
