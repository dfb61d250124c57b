"""Processor time of a replay, an uncaptured step and a capture of a GPT training step, in ms: to be run with and
without `graphkit trace`, in turn (docs/performance.md).

    graphkit trace --device soft -o step.json -- python tests/bench/torch_step.py
    torch_step.py --serve             for in_turn.py: makes a call for each line, and prints its time
    torch_step.py --history CONTEXT   with PyTorch's memory history, stacks of CONTEXT (all, alloc, none)
"""

import argparse
import os
import pathlib
import runpy
import statistics
import sys
import time

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--serve", action="store_true")
PARSER.add_argument("--history", choices=["all", "alloc", "none"])
OPTIONS = PARSER.parse_args()
program = runpy.run_path(str(pathlib.Path(__file__).parents[1] / "clients/torch/gpt.py"))
torch, step, graph = program["torch"], program["step"], program["graph"]
if OPTIONS.history:
    context = None if OPTIONS.history == "none" else OPTIONS.history
    torch.cuda.memory._record_memory_history("all", context=context, stacks="python", max_entries=5_000_000)


def capture():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        step()


CALLS = {"replay": graph.replay, "uncaptured step": step, "captured step": capture}


def milliseconds(call):
    before = time.process_time()
    call()
    return 1000 * (time.process_time() - before)


def serve():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for call in CALLS.values():
        call()
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        spent = milliseconds(CALLS[line.strip()])
        torch.cuda.synchronize()
        print(spent, file=out, flush=True)


def measure():
    for (name, call), times in zip(CALLS.items(), (300, 60, 20)):
        spent = statistics.median(milliseconds(call) for _ in range(times))
        torch.cuda.synchronize()
        print(f"{name}: {spent:.3f} ms")


serve() if OPTIONS.serve else measure()
