"""blocking_calls without its faults: the copy is captured, and what is used outside was allocated before,
and the host waits for it."""

from stories import blocking_calls

PROGRAM = "blocking_calls"
ARGUMENTS = ["fixed"]
STDOUT = blocking_calls.STDOUT
GRAPHS = [{"nodes": 3, "nodes_by_type": {"memset": 1, "memcpy": 2}, "edges": 2}, blocking_calls.POOL]
TOTALS = {"nodes": 5, "edges": 3, "launches": 4}
FINDINGS = []  # clean
NO_OTHER = "*"
