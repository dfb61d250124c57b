"""What cudagraphkit.record() adds to the capture of a training step, over PyTorch's memory history with stacks alone.

    record_cost.py [PAIRS]      on a GPU, or on the software device (docs/soft-device.md)

Captures in turn with the history alone and with the hooks beside it, in one process. Prints the medians, in time of the capturing
thread, their ratio, and the median of the pairs' ratios.
"""

import statistics
import sys
import time

import torch
from recording import recording


def make_step():
    layers = [torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0) for _ in range(6)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), capturable=True, foreach=True)
    x = torch.randn(8, 32, 128, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=False)
        model(x).sum().backward()
        optimizer.step()

    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(2):
            step()
    torch.cuda.synchronize()
    return step


def capture(step):
    graph = torch.cuda.CUDAGraph()
    began = time.thread_time()
    with torch.cuda.graph(graph):
        step()
    return 1e3 * (time.thread_time() - began)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    torch.cuda._lazy_call(lambda: torch.cuda.memory._record_memory_history(
        "all", context="all", stacks="python", max_entries=recording.MAX_EVENTS))
    step = make_step()
    recorder = recording.Recorder(torch)
    alone, beside = [], []
    for _ in range(pairs + 2):
        alone.append(capture(step))
        recorder.start()
        beside.append(capture(step))
        recorder.stop()
    alone, beside = alone[2:], beside[2:]
    lines = recording.Lines(recorder)
    for _ in lines:
        pass
    history, hooks = statistics.median(alone), statistics.median(beside)
    ratio = statistics.median(b / a for a, b in zip(alone, beside))
    print(f"{lines.count['nodes'] // (pairs + 2)} nodes: history {history:.2f} ms, with hooks {hooks:.2f} ms, ratio {hooks / history:.3f}, of pairs {ratio:.3f}")


main()
