"""Numbers: head of testdata/workloads/inference_server.cu."""

from expect import MIB

STDOUT = """\
inference_server: 34 MiB reserved for 4 graphs
inference_server: 1 inputs by the graph of 1
inference_server: 3 inputs by the graph of 4
inference_server: 8 inputs by the graph of 8
inference_server: 5 inputs by the graph of 8
inference_server: 2 inputs by the graph of 2
"""


def graph_of(batch):
    return {
        "nodes": 4,
        "nodes_by_type": {"kernel": 3, "memcpy": 1},
        "edges": 3,
        "streams": 1,
        "blocks": 3,
        "total_bytes": 5 * batch * MIB,  # hidden 2 b, attended 2 b, logits b
        "peak_live_bytes": 4 * batch * MIB,  # hidden and attended
        "deferred_bytes": 0,
    }


GRAPHS = [graph_of(batch) for batch in (8, 4, 2, 1)]
TOTALS = {"nodes": 16, "edges": 12, "launches": 5}
DRAWN = {"nodes": 16, "edges": 12, "clusters": 8}  # 4 graphs with a stream each
FINDINGS = [
    # Four graphs of the same nodes and edges, launched one after another: 4, 8, 8 and 2 follow 1, and change three times.
    {"check": "duplicate-exec", "severity": "note", "graph": 0},
    # The largest batch is captured first and launched after batch 4, whose logits (4 MiB) lie where it writes. The host has waited
    # for each launch, and no graph reads another's logits: a note.
    {"check": "replay-order", "severity": "note", "bytes": 4 * MIB, "graph": 0},
    # The last logits got a segment of their own (small), and could lie where hidden lay.
    {"check": "reuse-opportunity", "severity": "note", "bytes": MIB, "graph": 3},
]
NO_OTHER = "*"
