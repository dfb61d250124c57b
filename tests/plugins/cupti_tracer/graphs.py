"""The graphs of a trace, compared with the API's view of them (copies.cu)."""

import json
import subprocess

from harness import BUILD, Skipped, count, load, trace


class Traced:
    """A trace's graphs in the form in which copies.cu prints the API's."""

    def __init__(self, records):
        self.records = records
        self.addresses = {r["id"]: int(r["address"], 16) for r in records if r["type"] == "alloc"}
        gone = {r["node"] for r in records if r["type"] == "node_destroyed"}
        self.nodes = [dict(r) for r in records if r["type"] == "node"]
        for change in (r for r in records if r["type"] == "node_set" and "exec" not in r):
            if change["what"] == "params":
                node = self.nodes[change["node"]]
                kept = {key: node[key] for key in ("id", "graph", "kind", "child", "switched") if key in node}
                self.nodes[change["node"]] = {**change, **kept}
            else:
                self.nodes[change["node"]]["switched"] = change["what"]
        self.nodes = [node for node in self.nodes if node["id"] not in gone]
        self.edges = [r for r in records if r["type"] == "edge"]
        self.graphs = {r["id"]: r for r in records if r["type"] == "graph"}

    def graph(self, number):
        nodes = [node for node in self.nodes if node["graph"] == number]
        place = {node["id"]: i for i, node in enumerate(nodes)}
        edges = [[place[e["from"]], place[e["to"]], e.get("from_port", 0), e.get("edge_type", 0)]
                 for e in self.edges if e["from"] in place and e["to"] in place]
        return {"graph": self.graphs[number]["handle"], "nodes": [self.node(node) for node in nodes], "edges": edges}

    def node(self, node):
        touched = [(hex(self.addresses[block] + offset), length) for block, _, offset, length in node.get("access", [])]
        if node["kind"] == "graph":
            return ["graph", self.graph(node["child"])]
        if node["kind"] == "memset":
            return ["memset", *touched[0]]
        if node["kind"] == "kernel":
            return ["kernel", touched[0][0], node.get("grid", [1])[0]]
        return [node["kind"]]


def sorted_edges(graph):
    """The API's edges come in another order than they were made in."""
    nodes = [[kind, sorted_edges(*rest)] if kind == "graph" else [kind, *rest] for kind, *rest in graph["nodes"]]
    return {**graph, "nodes": nodes, "edges": sorted(graph["edges"])}


def programs():
    """copies.cu with each runtime that there is."""
    found = [(version, BUILD / f"tests/copies{version}") for version in ("", "12")]
    found = [(version, program) for version, program in found if program.exists()]
    if not found:
        raise Skipped("no nvcc")
    return found


def shown(folder, program, what):
    """The records of the program's trace, and the graphs that it printed."""
    code, out, err = trace(folder, program, what)
    assert code == 0, (code, err)
    return load(folder / "trace.json"), [sorted_edges(json.loads(line)) for line in out.splitlines()]


def assert_same(records, graphs):
    """Every graph that was printed is in the trace, and the same."""
    traced = Traced(records)
    assert graphs
    for graph in graphs:
        same = [number for number, r in traced.graphs.items() if r["handle"] == graph["graph"]]
        assert same, (graph, "isn't in the trace")
        got = sorted_edges(traced.graph(same[-1]))
        assert got == graph, (got, graph)


def origins(records):
    return [(r["origin"], r.get("original"), r.get("parent")) for r in records if r["type"] == "graph"]


def test_clones_of_graphs_inside_graphs_have_the_parameters_set(folder):
    for _, program in programs():
        records, graphs = shown(folder, program, "clone")
        assert_same(records, graphs)
        made = [origin for origin, _, _ in origins(records)]
        assert made == ["explicit", "explicit", "child", "explicit", "child", "child", "child",
                        "clone", "child", "child", "child", "clone", "child", "child", "child"], made
        assert count(records, "graph_destroyed") == 0
        # Each child graph of a clone comes from the one in its place in the original.
        known = {r["id"]: r for r in records if r["type"] == "graph"}
        node_of = {r["id"]: r for r in records if r["type"] == "node"}
        for graph in known.values():
            original = known.get(graph.get("original"))
            if graph["origin"] != "child" or original is None or original["origin"] != "child":
                continue
            above, before = (node_of[g["parent"]]["graph"] for g in (graph, original))
            assert known[above].get("original") in (before, known[before].get("original")), graph


def test_a_body_whose_capture_failed_is_gone(folder):
    for _, program in programs():
        records, (full,) = shown(folder, program, "body")
        assert [origin for origin, _, _ in origins(records)] == ["explicit", "body"]
        assert count(records, "node") == 1 + 3 + 2 and len(full["nodes"]) == 3
        assert count(records, "graph_destroyed") == 1 and count(records, "node_destroyed") == 0
        ends = [r.get("error", 0) for r in records if r["type"] == "capture_end"]
        assert ends == [0, 908], ends


def test_captured_edges_have_the_data_that_the_api_gives(folder):
    for _, program in programs():
        records, graphs = shown(folder, program, "edges")
        assert_same(records, graphs)
        # From the kernel with the attributes to what waits, as copies.cu goes through them.
        first = iter([edge[2:] for graph in graphs for edge in graph["edges"] if edge[:2] == [0, 1]])
        for triggered in ([1, 1], [2, 1]):
            for node in ("kernel", "memset", "host", "serialized"):
                for waits in ("p", "b", "pw", "wp", "pp", "bw", "wb", "pb", "bp", "bpw"):
                    partial = triggered if "p" in waits else [2, 0]
                    wanted = [1, 1] if node == "serialized" else [0, 0] if "w" in waits else partial
                    got = next(first)
                    assert got == wanted, (node, waits, got)


def test_verdicts_go_by_the_parameters_that_were_set(folder):
    for _, program in programs():
        for what, wanted in (("race", 1), ("apart", 0)):
            assert_same(*shown(folder, program, what))
            done = subprocess.run([BUILD / "bin/graphkit", "check", "trace.json", "--fail-on", "missing-order"],
                                  cwd=folder, capture_output=True, text=True)
            assert done.returncode == wanted, (what, done.returncode, done.stdout)
