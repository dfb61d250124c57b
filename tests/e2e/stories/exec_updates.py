"""Numbers: head of testdata/workloads/exec_updates.cu."""

STDOUT = "exec_updates: done\n"
TWO = {"nodes": 2, "nodes_by_type": {"kernel": 2}, "edges": 1}
ONE = {"nodes": 1, "nodes_by_type": {"kernel": 1}, "edges": 0}
GRAPHS = [TWO, {"nodes": 2, "nodes_by_type": {"kernel": 1, "memset": 1}, "edges": 1}, ONE, ONE, TWO, TWO, TWO,
          ONE, ONE]
TOTALS = {"nodes": 14, "edges": 5, "launches": 12}  # 2 + 2 + 1 + 3 + 4
FINDINGS = [
    {"check": "exec-update-failed", "severity": "error", "graph": 1},
    {"check": "update-without-effect", "severity": "warning", "graph": 2},
    {"check": "update-without-effect", "severity": "note", "graph": 3},
    {"check": "duplicate-exec", "severity": "note", "graph": 4},
    {"check": "update-without-effect", "severity": "note", "graph": 7},
]
NO_OTHER = "*"
