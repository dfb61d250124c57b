"""Numbers: head of testdata/workloads/explicit_graph.cu."""

from expect import MIB

STDOUT = "explicit_graph: the host node ran 2 times\n"
GRAPHS = [
    {
        "origin": "explicit",
        "nodes": 12,
        "nodes_by_type": {"mem_alloc": 1, "memset": 1, "kernel": 1, "graph": 1, "conditional": 3, "host": 1,
                          "empty": 1, "event_record": 1, "memcpy": 1, "mem_free": 1},
        "edges": 14,  # 13 as the nodes were added, switch-host afterwards
        "blocks": 1,
        "total_bytes": 2 * MIB,
        "peak_live_bytes": 2 * MIB,
        "never_freed_bytes": 0,
    },
    {"origin": "explicit", "nodes": 2, "nodes_by_type": {"kernel": 2}, "edges": 1},  # the template of the child
]
FINDINGS = [
    {"check": "redundant-edge", "severity": "note", "graph": 0},  # if to join: if-host-join says it
    {"check": "missing-order", "severity": "warning", "graph": 0},  # the bodies of if and switch scale the same data
]
NO_OTHER = "*"
