"""Compares processes that run at the same time and make one call after the other, in turn: what else the machine does
meets all of them alike. Prints each call's median in ms and the median of its ratios to the first process's, with their
quartiles.

    in_turn.py ROUNDS LABEL=COMMAND…      each COMMAND runs `torch_step.py --serve`
"""

import statistics
import subprocess
import sys

CALLS = ("replay", "uncaptured step", "captured step")


class Served:
    def __init__(self, words):
        self.label, command = words.split("=", 1)
        self.process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.spent = {call: [] for call in CALLS}

    def make(self, call):
        self.process.stdin.write(call + "\n")
        self.process.stdin.flush()
        self.spent[call].append(float(self.process.stdout.readline()))


rounds, served = int(sys.argv[1]), [Served(words) for words in sys.argv[2:]]
for one in served:
    assert one.process.stdout.readline().strip() == "ready", one.label
for turn in range(rounds):
    for call in CALLS:
        for one in served if turn % 2 else served[::-1]:
            one.make(call)
for one in served:
    one.process.stdin.close()
    one.process.wait()
for one in served:
    print(f"{one.label}:")
    for call in CALLS:
        ratios = [mine / first for mine, first in zip(one.spent[call], served[0].spent[call])]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"  {call}: {statistics.median(one.spent[call]):.3f} ms, {middle:.2f} times ({low:.2f} to {high:.2f})")
