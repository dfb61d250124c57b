"""Numbers: head of testdata/workloads/threads.cu."""

from expect import KIB, MIB

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
    "blocks": 1,
    "total_bytes": MIB,
}
RELAXED = {**CHAIN, "blocks": 2, "total_bytes": MIB + 64 * KIB}  # and a cudaMalloc in the midst of the capture
GRAPHS = [CHAIN] * 8 + [RELAXED] * 4  # 3 modes x 4 threads
TOTALS = {"nodes": 48, "edges": 36, "launches": 0}
DRAWN = {"nodes": 48, "edges": 36, "clusters": 24}  # 12 graphs with a stream each
FINDINGS = []  # clean
NO_OTHER = "*"
