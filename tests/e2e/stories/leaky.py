"""Numbers: head of testdata/workloads/leaky.cu."""

from expect import MIB

STDOUT = "leaky: done\n"
GRAPHS = [
    {"nodes": 3, "nodes_by_type": {"mem_alloc": 1, "kernel": 1, "mem_free": 1}, "edges": 2, "total_bytes": MIB,
     "never_freed_bytes": 0, "never_freed_blocks": 0},
    {"nodes": 2, "nodes_by_type": {"kernel": 2}, "edges": 1, "blocks": 0, "total_bytes": 0},
    {"nodes": 2, "nodes_by_type": {"mem_alloc": 1, "kernel": 1}, "edges": 1, "total_bytes": 8 * MIB,
     "never_freed_bytes": 8 * MIB, "never_freed_blocks": 1},
]
TOTALS = {"nodes": 7, "edges": 4, "launches": 5}  # 2 + 2 + 1
DRAWN = {"nodes": 7, "edges": 4, "clusters": 6}  # 3 graphs with a stream each
FINDINGS = [
    {"check": "graph-allocation-leak", "severity": "error", "bytes": 8 * MIB, "graph": 2},
    {"check": "block-leak", "severity": "warning", "bytes": 3 * MIB},
    {"check": "exec-leak", "severity": "warning", "graph": 1},
]
NO_OTHER = "*"
