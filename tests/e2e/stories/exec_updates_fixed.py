"""exec_updates without its faults; an update that fails once, and is answered by an instantiation, stays a note."""

from stories import exec_updates

PROGRAM = "exec_updates"
ARGUMENTS = ["fixed"]
STDOUT = exec_updates.STDOUT
GRAPHS = exec_updates.GRAPHS
TOTALS = exec_updates.TOTALS
FINDINGS = [{"check": "exec-update-failed", "severity": "note", "graph": 1}]
NO_OTHER = "*"
