"""Inspect what CUDA graphs capture, what memory they keep, and what may share it.

    import cudagraphkit

    with cudagraphkit.trace("step.json") as recording:    # PyTorch's memory history, as a trace
        train_step()
    cudagraphkit.record()                                 # graphs, launches and memory to the end of the process
    trace = cudagraphkit.load("step.json")                # or any file that `graphkit import` reads
    trace.handed_out["size"].sum()                        # numpy structured arrays
    cudagraphkit.analyze(trace).findings                  # findings with advice
    cudagraphkit.plan(trace)["peak_bytes"]                # the peak of a planned placement
    cudagraphkit.estimate(trace, [1, 2, 4, 8])["total"]   # memory of graphs of these sizes
    cudagraphkit.explain("snapshot.pickle").holders       # who holds the memory, of any file
    cudagraphkit.show("snapshot.pickle")                  # in a notebook: the report; %load_ext cudagraphkit: %%graphkit
"""

from ._answers import Diff, Explanation, Page, Verdict, attribute, check, diff, explain, report, show
from ._magic import load_ipython_extension
from ._native import Error
from ._recording import GraphRecording, record
from ._report import Estimate, Plan, Report, analyze, estimate, plan
from ._trace import Trace, load, merge
from ._tracing import Recording, trace

__version__ = "0.1.0"
__all__ = ["Diff", "Error", "Estimate", "Explanation", "GraphRecording", "Page", "Plan", "Recording", "Report", "Trace", "Verdict", "analyze",
           "attribute", "check", "diff", "estimate", "explain", "load", "load_ipython_extension", "merge", "plan", "record", "report",
           "show", "trace"]
