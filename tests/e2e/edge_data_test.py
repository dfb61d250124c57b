"""A program of CUDA 12.1 with programmatic launches, on the software device of a driver of 12.1 and on its own: edges have
data since CUDA 12.3, and where they have none every view of them reports it.

    edge_data_test.py --graphkit BINARY --workloads FOLDER --out FOLDER
"""

import json
import os

from graphkit_cli import Failure, run_test

MISSING = "edge data not available (CUDA 12.1)"


def traced(graphkit, workloads, driver):
    """The trace, its driver, and of its edges: how many there are, and how many have data."""
    os.environ["GRAPHKIT_SOFT_DRIVER"] = driver
    trace, _ = graphkit.trace(workloads / "programmatic", [], f"programmatic-{driver}")
    records = json.loads(trace.read_text(encoding="utf-8"))["records"]
    edges = [record for record in records if record["type"] == "edge"]
    events = [record for record in records if record["type"] == "event_record"]
    with_data = [r for r in edges if r.keys() & {"from_port", "to_port", "edge_type"}] + [e for e in events if "entries" in e]
    return trace, next(record["driver"] for record in records if record["type"] == "process"), len(edges), len(with_data)


def views(graphkit, trace):
    drawing = trace.with_suffix(".dot")
    graphkit.run(["dot", trace, "-o", drawing])
    return {"analyze": " ".join(graphkit.run(["analyze", trace], (0, 1)).split()),
            "explain": " ".join(graphkit.run([trace]).split()),
            "dot": drawing.read_text(encoding="utf-8")}


def check(graphkit, workloads):
    edges = set()
    for driver, recorded in (("12.1", 12010), ("12.3", 12030), ("", 13000), ("11.8", 13000)):
        trace, version, count, with_data = traced(graphkit, workloads, driver)
        edges.add(count)
        if version != recorded or (with_data == 0) != (recorded < 12030):
            raise Failure(f"GRAPHKIT_SOFT_DRIVER='{driver}': driver {version}, {with_data} of {count} edges and events have data")
        for view, text in views(graphkit, trace).items():
            if (MISSING in text) != (recorded < 12030):
                raise Failure(f"GRAPHKIT_SOFT_DRIVER='{driver}': {view} {'has' if MISSING in text else 'lacks'} '{MISSING}':\n{text}")
    if len(edges) != 1 or 0 in edges:
        raise Failure(f"the graphs have {sorted(edges)} edges, depending on the driver")


if __name__ == "__main__":
    run_test(check, "edge_data")
