"""Numbers: head of testdata/workloads/fork_join.cu."""

from expect import MIB

STDOUT = "fork_join: captures 1, nodes 15\n"
GRAPHS = [{
    "origin": "capture",
    "nodes": 15,  # 3 before the diamond, 10 in it, 2 after it
    "nodes_by_type": {"kernel": 5, "mem_alloc": 4, "mem_free": 4, "memset": 1, "memcpy": 1},
    "edges": 15,  # 12 along main, 1 along side, 2 across
    "cross_stream_edges": 2,  # produce to alloc right, right to add
    "programmatic_edges": 0,
    "critical_path_nodes": 13,  # all but two of one branch
    "streams": 2,
    "blocks": 4,  # x, left, right, scratch
    "total_bytes": 11 * MIB,  # 1 + 2 + 4 + 4
    "peak_live_bytes": 7 * MIB,  # x, left, right
    "deferred_bytes": 0,
    "lower_bound_bytes": 7 * MIB,  # scratch may lie where right lay
    "never_freed_bytes": 0,
}]
TOTALS = {"nodes": 15, "edges": 15, "launches": 2}
DRAWN = {"nodes": 15, "edges": 15, "clusters": 3}  # the graph and its two streams
FINDINGS = []  # clean
NO_OTHER = "*"
