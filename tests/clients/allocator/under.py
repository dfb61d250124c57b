"""Runs a program of PyTorch under an allocator, and writes what its captures took.

    under.py ALLOCATOR REPORT PROGRAM

ALLOCATOR: `pytorch`, with the settings of PYTORCH_CUDA_ALLOC_CONF, or `graphkit`. REPORT, as JSON: the bytes that all captures
together got from the driver while they went on, the most that was reserved at all, and the seconds that they took. A rank of
torchrun appends its number to the name of REPORT.
"""

import importlib.util
import json
import os
import pathlib
import runpy
import sys
import time

import torch

ALLOCATOR, REPORT, PROGRAM = sys.argv[1:4]
REPORT += os.environ.get("RANK", "")
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
FOUND = {"captures": 0, "captured": 0, "peak": 0, "seconds": 0.0}


def enable():
    path = REPOSITORY / "plugins/python/cudagraphkit/torch_allocator.py"
    spec = importlib.util.spec_from_file_location("cudagraphkit.torch_allocator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.enable()


def watch(graph):
    begin, end = graph.capture_begin, graph.capture_end

    def capture_begin(self, *arguments, **named):
        begin(self, *arguments, **named)
        self._before = torch.cuda.memory_reserved(), time.perf_counter()

    def capture_end(self):
        reserved, started = self._before
        FOUND["seconds"] += time.perf_counter() - started
        end(self)
        FOUND["captures"] += 1
        FOUND["captured"] += torch.cuda.memory_reserved() - reserved

    graph.capture_begin, graph.capture_end = capture_begin, capture_end


if ALLOCATOR == "graphkit":
    enable()
watch(torch.cuda.CUDAGraph)
sys.argv = [PROGRAM]
sys.path[0] = str(pathlib.Path(PROGRAM).parent)
kept = runpy.run_path(PROGRAM, run_name="__main__")
FOUND["peak"] = torch.cuda.max_memory_reserved()
pathlib.Path(REPORT).write_text(json.dumps(FOUND), encoding="utf-8")
