"""Numbers: head of testdata/workloads/host_copies.cu."""

from expect import KIB

STDOUT = "host_copies: done\n"
ONE = {"nodes": 1, "nodes_by_type": {"memcpy": 1}, "edges": 0}
GRAPHS = [
    ONE,
    ONE,
    {"nodes": 2, "nodes_by_type": {"memcpy": 2}, "edges": 1},
    {"nodes": 3, "nodes_by_type": {"memcpy": 3}, "edges": 2},
]
TOTALS = {"nodes": 7, "edges": 3, "launches": 6}  # 1 + 2 + 1 + 2
FINDINGS = [
    {"check": "stale-host-memory", "severity": "error", "bytes": 4 * KIB, "graph": 0},
    {"check": "stale-host-memory", "severity": "error", "bytes": 64 * KIB, "graph": 1},
    {"check": "pageable-host-copy", "severity": "note", "bytes": 4 * KIB, "graph": 0},
    {"check": "pageable-host-copy", "severity": "warning", "bytes": 32 * KIB, "graph": 2},
]
NO_OTHER = "*"
