"""host_copies without its faults: all that graphs 0, 1 and 2 copy is pinned, and lives on."""

from stories import host_copies

PROGRAM = "host_copies"
ARGUMENTS = ["fixed"]
STDOUT = host_copies.STDOUT
GRAPHS = host_copies.GRAPHS
TOTALS = host_copies.TOTALS
FINDINGS = []  # clean
NO_OTHER = "*"
