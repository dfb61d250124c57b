"""A graph with every kind of node and one with every kind of edge, traced and drawn by cuGraphDebugDotPrint with each
flag: every drawing gives the graphs, kinds, kernels, edges and holders of the trace.

    drawings_test.py --graphkit BINARY --program GRAPH_DRAWINGS --out FOLDER
"""

import argparse
import json
import pathlib
import shutil
import sys

from graphkit_cli import Failure, Graphkit

KINDS = 14


def records_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["records"]


def shape_of(records, root):
    """The graph with that tools id as nested lists: kind, kernel, dependencies by number, and the same of what a node
    holds."""
    kernels = {record["id"]: record["name"] for record in records if record["type"] == "kernel"}
    nodes = [record for record in records if record["type"] == "node"]
    edges = [record for record in records if record["type"] == "edge"]
    graphs = [record for record in records if record["type"] == "graph"]

    def one(graph):
        inside = [node for node in nodes if node["graph"] == graph["id"]]
        number = {node["id"]: place for place, node in enumerate(inside)}
        return [{"kind": node["kind"], "kernel": kernels.get(node.get("kernel")),
                 "after": sorted(number[edge["from"]] for edge in edges if edge["to"] == node["id"]),
                 "holds": [one(held) for held in sorted((g for g in graphs if g.get("parent") == node["id"]),
                                                        key=lambda g: g.get("body", 0))]}
                for node in inside]

    return one(next(graph for graph in graphs if graph.get("tool_id") == root))


def main():
    parser = argparse.ArgumentParser()
    for name in ("graphkit", "program", "out"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    graphkit = Graphkit(arguments.graphkit, arguments.out)
    folder = graphkit.folder / "drawings"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    trace, _ = graphkit.trace(pathlib.Path(arguments.program).resolve(), [folder], "graph_drawings")
    every, edges = [record["tool_id"] for record in records_of(trace) if record["type"] == "graph"][:2]
    kinds = {node["kind"] for node in shape_of(records_of(trace), every)}
    if len(kinds) != KINDS:
        raise Failure(f"the graph has nodes of {sorted(kinds)}, expected all {KINDS} kinds")
    drawings = sorted(folder.glob("*.dot"))
    imported = graphkit.folder / "drawing.json"
    for drawing in drawings:
        graphkit.run(["import", "dot", drawing, "-o", imported])
        drawn = edges if drawing.stem.startswith("edges") else every
        got, wanted = shape_of(records_of(imported), drawn), shape_of(records_of(trace), drawn)
        if got != wanted:
            raise Failure(f"the drawing {drawing.name}:\n{got}\nexpected\n{wanted}")
    print(f"{len(drawings)} drawings are read as traced")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"drawings_test: {failure}")
