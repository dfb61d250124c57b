"""Numbers: head of testdata/workloads/untriggered.cu."""

from expect import MIB

STDOUT = "untriggered: silent done\nuntriggered: neither done\nuntriggered: whole done\n"

LAYERS = {
    "nodes": 8,
    "nodes_by_type": {"kernel": 8},
    "edges": 7,  # one chain
    "programmatic_edges": 7,
    "launch_completion_edges": 0,
    "streams": 1,
    "blocks": 0,  # x and y are allocated outside
}
GRAPHS = [LAYERS, LAYERS, LAYERS]
DRAWN = {"nodes": 24, "edges": 21, "clusters": 6}  # 3 graphs of one stream
# Nothing of `whole`: graph 2, and of `silent`: graph 0. Add and Scale of `neither` read what the kernel before them
# wrote, without waiting for it.
FINDINGS = [
    {"check": "programmatic-only-order", "severity": "warning", "bytes": 8 * MIB, "graph": 1},
    {"check": "programmatic-only-order", "severity": "warning", "bytes": 4 * MIB, "graph": 1},
]
