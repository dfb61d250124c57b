"""Numbers: head of testdata/workloads/invalidated.cu."""

STDOUT = """\
invalidated: unsafe_call: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: synchronize: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: query_event: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: merge: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: isolation: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: legacy: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: unjoined: the capture ended with cudaErrorStreamCaptureUnjoined
invalidated: unmatched: the capture ended with cudaErrorStreamCaptureInvalidated
invalidated: wrong_thread: the capture ended with cudaErrorIllegalState
invalidated: begin_again: the capture ended with cudaSuccess
"""
ONE_KERNEL = {"origin": "capture", "nodes": 1, "edges": 0}
FORKED = {"origin": "capture", "nodes": 2, "edges": 1}
GRAPHS = [
    ONE_KERNEL,  # unsafe_call
    ONE_KERNEL,  # synchronize
    ONE_KERNEL,  # query_event
    ONE_KERNEL,  # merge: the capture that waits
    ONE_KERNEL,  # merge: the capture that it waits for
    ONE_KERNEL,  # isolation
    ONE_KERNEL,  # legacy
    FORKED,  # unjoined
    FORKED,  # unmatched
    ONE_KERNEL,  # wrong_thread
    ONE_KERNEL,  # begin_again
]
TOTALS = {"nodes": 13, "edges": 2, "launches": 0}
DRAWN = {"nodes": 13, "edges": 2}
BROKEN = {"check": "capture-invalidated", "severity": "error"}
SURVIVED = {"check": "unsafe-call-in-capture", "severity": "warning"}
FINDINGS = [{**BROKEN, "graph": graph} for graph in (0, 1, 2, 3, 4, 5, 6, 8, 9)] + [  # 9: wrong_thread
    {"check": "unjoined-stream", "severity": "error", "graph": 7},
    {**SURVIVED, "graph": 10},  # begin_again
]
NO_OTHER = "*"
