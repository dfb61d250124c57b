"""Numbers: head of testdata/workloads/big_capture.cu. The whole size is compared by its numbers only: its golden
trace is that of big_capture_small."""

STDOUT = "big_capture: 10000 nodes\n"
GOLDEN = False
GRAPHS = [{
    "nodes": 10000,
    "nodes_by_type": {"kernel": 9998, "memset": 1, "memcpy": 1},
    "edges": 10002,
    "cross_stream_edges": 6,  # 3 out to the side lanes, 3 back
    "critical_path_nodes": 2503,  # memset, root, a lane of 2499, join, memcpy
    "streams": 4,
    "blocks": 0,
}]
TOTALS = {"nodes": 10000, "edges": 10002, "launches": 1}
# memset, root, four folded lanes, join, memcpy; the graph and its four streams.
DRAWN = {"nodes": 8, "edges": 10, "clusters": 5}
