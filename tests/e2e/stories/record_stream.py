"""Numbers: head of testdata/workloads/record_stream.cu."""

from expect import MIB

STDOUT = "record_stream: 6 layers, 80 MiB reserved for the capture\n"
GRAPHS = [{
    "origin": "capture",
    "nodes": 13,  # 6 Forward, 6 Exchange, Reduce
    "nodes_by_type": {"kernel": 13},
    "edges": 23,  # into Forward 9, into Exchange 11, into Reduce 3
    "cross_stream_edges": 12,  # F_i to R_i 6; R_0..R_3 to F_2..F_5 4; R_4, R_5 to Reduce 2
    "critical_path_nodes": 8,  # F_0 … F_5, R_5, Reduce
    "streams": 2,
    "blocks": 12,
    "total_bytes": 96 * MIB,  # 6 x (12 + 4)
    "peak_live_bytes": 28 * MIB,  # h_{i-1}, h_i, scratch
    "deferred_bytes": 72 * MIB,  # all h_i wait for the end
    "lower_bound_bytes": 28 * MIB,
    "never_freed_bytes": 0,
}]
TOTALS = {"nodes": 13, "edges": 23, "launches": 3}
DRAWN = {"nodes": 13, "edges": 23, "clusters": 3}
DEFERRED = {"check": "deferred-record-stream", "severity": "warning", "bytes": 36 * MIB, "graph": 0}
FINDINGS = [
    DEFERRED,  # h_0, h_1, h_2: main waits for their exchange before a later malloc
    DEFERRED,  # h_3, h_4, h_5: main waits, and allocates no more
    {"check": "reuse-opportunity", "severity": "note", "bytes": 48 * MIB, "graph": 0},  # h_2 to h_5 behind h_0 to h_3
    {"check": "redundant-edge", "severity": "note", "graph": 0},  # Reduce waits for R_4 and for R_5, which is after it
]
NO_OTHER = "*"
