"""big_capture with lanes of 25 kernels: 4 x 25 + 4 nodes, 4 x 25 + 6 edges."""

PROGRAM = "big_capture"
ARGUMENTS = ["--nodes", "104"]
STDOUT = "big_capture: 104 nodes\n"
GRAPHS = [{
    "nodes": 104,
    "nodes_by_type": {"kernel": 102, "memset": 1, "memcpy": 1},
    "edges": 106,
    "cross_stream_edges": 6,
    "critical_path_nodes": 29,
    "streams": 4,
    "blocks": 0,
}]
TOTALS = {"nodes": 104, "edges": 106, "launches": 1}
FINDINGS = []  # clean
NO_OTHER = "*"
