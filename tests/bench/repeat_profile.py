#!/usr/bin/env python3
"""Writes a profile of many replays: the graph launch of testdata/kineto/sglang_decode_replay.json.gz, again and again.

usage: repeat_profile.py KERNELS OUTPUT
"""

import gzip
import json
import pathlib
import sys

APART_US = 20000.0  # from one launch to the next
SAMPLE = pathlib.Path(__file__).parents[2] / "testdata/kineto/sglang_decode_replay.json.gz"


def main() -> None:
    kernels, output = int(sys.argv[1]), sys.argv[2]
    events = json.load(gzip.open(SAMPLE))["traceEvents"]
    launch = next(event for event in events if event["name"] == "hipGraphLaunch")
    correlation = launch["args"]["correlation"]
    work = [event for event in events if event.get("cat") == "kernel" and event["args"].get("correlation") == correlation]
    with open(output, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [')
        for number in range(kernels // len(work)):
            for event in [launch, *work]:
                again = {**event, "ts": event["ts"] + number * APART_US, "args": {**event["args"], "correlation": correlation + number}}
                file.write(("" if number == 0 and event is launch else ",") + "\n" + json.dumps(again, indent=2))
        file.write("\n]}\n")


if __name__ == "__main__":
    main()
