"""Inspect what CUDA graphs capture, what memory they keep, and what may share it.

    import cudagraphkit

    with cudagraphkit.trace("step.json") as recording:    # PyTorch's memory history, as a trace
        train_step()
    trace = cudagraphkit.load("step.json")                # or any file that `graphkit import` reads
    trace.handed_out["size"].sum()                        # numpy structured arrays
    cudagraphkit.analyze(trace).findings                  # findings with advice
    cudagraphkit.plan(trace)["peak_bytes"]                # the peak of a planned placement
    cudagraphkit.estimate(trace, [1, 2, 4, 8])["total"]   # memory of graphs of these sizes
"""

from ._native import Error
from ._report import Report, analyze, estimate, plan
from ._trace import Trace, load, merge
from ._tracing import Recording, trace

__version__ = "0.1.0"
__all__ = ["Error", "Recording", "Report", "Trace", "analyze", "estimate", "load", "merge", "plan", "trace"]
