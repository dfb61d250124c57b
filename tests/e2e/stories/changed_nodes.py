"""Numbers: head of testdata/workloads/changed_nodes.cu."""

STDOUT = "changed_nodes: 7 changes, 1 update, 4 launches\n"
GRAPHS = [{"origin": "explicit", "nodes": 5, "edges": 4,
           "nodes_by_type": {"memset": 1, "kernel": 2, "event_record": 1, "memcpy": 1}},
          {"origin": "capture", "nodes": 1}, {"origin": "explicit", "nodes": 1}]
TOTALS = {"launches": 4}
NO_OTHER = "*"
