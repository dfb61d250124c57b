"""Numbers: head of testdata/workloads/blocking_calls.cu."""

from expect import KIB

STDOUT = "blocking_calls: done\n"
POOL = {"nodes": 2, "nodes_by_type": {"memset": 1, "memcpy": 1}, "edges": 1}
GRAPHS = [POOL, POOL]
TOTALS = {"nodes": 4, "edges": 2, "launches": 4}
FINDINGS = [
    {"check": "escaped-work", "severity": "error", "bytes": 8 * KIB, "graph": 0},
    {"check": "border-order", "severity": "error", "bytes": 8 * KIB, "graph": 0},  # the escaped copy, of x and y
    {"check": "border-order", "severity": "error", "bytes": 4 * KIB, "graph": 1},  # into b
    {"check": "pool-clobbered-workspace", "severity": "error", "bytes": 4 * KIB, "graph": 1},
]
NO_OTHER = "*"
