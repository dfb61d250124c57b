"""Numbers: head of testdata/workloads/programmatic.cu."""

from expect import MIB

STDOUT = "programmatic: waiting done\nprogrammatic: careless done\nprogrammatic: events done\n"

SERIALIZED = {
    "nodes": 9,
    "nodes_by_type": {"kernel": 3, "mem_alloc": 3, "mem_free": 3},
    "edges": 8,  # one chain
    "programmatic_edges": 1,  # Produce to its consumer
    "launch_completion_edges": 0,
    "streams": 1,
    "blocks": 3,
    "total_bytes": 12 * MIB,
    "peak_live_bytes": 8 * MIB,  # x and y; then y and z
    "never_freed_bytes": 0,
}
GRAPHS = [
    # waiting: its end proves that Produce has ended, so z may lie where x lay
    {**SERIALIZED, "lower_bound_bytes": 8 * MIB},
    {**SERIALIZED, "lower_bound_bytes": 12 * MIB},  # careless: nothing ends Produce before z
    {
        "nodes": 5,
        "nodes_by_type": {"kernel": 5},
        "edges": 7,
        "programmatic_edges": 1,  # by the programmatic event
        "launch_completion_edges": 1,  # by the launch completion event
        "streams": 2,
    },
]
DRAWN = {"nodes": 23, "edges": 23, "clusters": 7}  # 3 graphs with 1, 1 and 2 streams
# The block that Produce writes while CarelessConsume reads it: its machine code doesn't wait.
FINDINGS = [{"check": "programmatic-only-order", "severity": "error", "bytes": 4 * MIB, "graph": 1}]
