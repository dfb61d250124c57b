"""The time of capturing a training step with PyTorch's memory history alone, and with cudagraphkit.record()'s hooks.

    record_cost.py history|hooks      on a GPU, or on the software device (docs/soft-device.md)

Prints the median and the least of nine captures, in time of the capturing thread.
"""

import importlib.util
import pathlib
import sys
import time

import torch

RECORDING = pathlib.Path(__file__).resolve().parents[2] / "plugins/python/cudagraphkit/_recording.py"


def begin(mode):
    spec = importlib.util.spec_from_file_location("graphkit_recording", RECORDING)
    recording = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = recording
    spec.loader.exec_module(recording)
    if mode == "hooks":
        recording.GraphRecording(torch, "unused.json")._ended = True  # nothing is written
        return
    torch.cuda._lazy_call(lambda: torch.cuda.memory._record_memory_history(
        "all", context="all", stacks="python", max_entries=recording.MAX_EVENTS))


def main():
    begin(sys.argv[1])
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
    times = []
    for _ in range(9):
        graph = torch.cuda.CUDAGraph()
        began = time.thread_time()
        with torch.cuda.graph(graph):
            step()
        times.append(1e3 * (time.thread_time() - began))
        del graph
    times.sort()
    print(f"{sys.argv[1]}: median {times[len(times) // 2]:.1f} ms, least {times[0]:.1f} ms")


main()
