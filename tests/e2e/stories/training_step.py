"""Numbers: head of testdata/workloads/training_step.cu."""

from expect import MIB

STDOUT = "training_step: 60 MiB reserved for the capture\n"
GRAPHS = [{
    "nodes": 14,
    "nodes_by_type": {"kernel": 13, "memcpy": 1},
    "edges": 16,  # main 6, B-R 3, R-R 2, into O3 2, O3-O2-O1-copy 3
    "cross_stream_edges": 4,  # B-R 3, R1-O3
    "critical_path_nodes": 12,  # F1 F2 F3 Loss B3 B2 B1 R1 O3 O2 O1 copy
    "streams": 2,
    "blocks": 9,
    "total_bytes": 108 * MIB,
    "peak_live_bytes": 60 * MIB,  # a1 a2 g3 d3 g2
    "deferred_bytes": 36 * MIB,  # d3 d2 d1
    "lower_bound_bytes": 60 * MIB,
    "never_freed_bytes": 0,
}]
TOTALS = {"nodes": 14, "edges": 16, "launches": 3}
DRAWN = {"nodes": 14, "edges": 16, "clusters": 3}
FINDINGS = [  # d_3, d_2, d_1: in the end; it costs nothing
    {"check": "deferred-record-stream", "severity": "note", "bytes": 36 * MIB, "graph": 0},
]
NO_OTHER = "*"
