"""Numbers: head of testdata/workloads/threads.cu."""

from expect import MIB

STDOUT = """\
threads: 4 captures in global mode
threads: 4 captures in thread_local mode
threads: 4 captures in relaxed mode
"""
CHAIN = {
    "origin": "capture",
    "nodes": 4,
    "nodes_by_type": {"mem_alloc": 1, "kernel": 2, "mem_free": 1},
    "edges": 3,
    "streams": 1,
    "total_bytes": MIB,
    "never_freed_bytes": 0,
}
GRAPHS = [CHAIN] * 12  # 3 modes x 4 threads
TOTALS = {"nodes": 48, "edges": 36, "launches": 0}
DRAWN = {"nodes": 48, "edges": 36, "clusters": 24}  # 12 graphs with a stream each
FINDINGS = []  # clean
NO_OTHER = "*"
