"""Numbers: head of testdata/workloads/edited_graphs.cu."""

from expect import MIB

STDOUT = "edited_graphs: 9 execs, 10 launches\n"


def pair(edges):
    return {"nodes": 2, "nodes_by_type": {"memset": 2}, "edges": edges}


GRAPHS = [pair(0), pair(1), pair(0), pair(0), pair(0), pair(1), pair(1),
          {"nodes": 6, "edges": 4, "lower_bound_bytes": 2 * MIB}, pair(1)]
TOTALS = {"launches": 10}
FINDINGS = [{"check": "missing-order", "severity": "error", "graph": graph} for graph in (0, 2, 4, 9)]
FINDINGS += [{"check": "update-without-effect", "severity": severity} for severity in ("warning", "note")]
NO_OTHER = "*"
