"""Threads that are given one another's handles: the trace says what each of them made, and nothing else.

GRAPHKIT_TEST_ROUNDS makes this as many times as often: 200 runs in long ones (50 rounds).
"""

import collections
import os
import subprocess

from harness import ARGUMENTS, BUILD, load, trace

RUNS = 4 * int(os.environ.get("GRAPHKIT_TEST_ROUNDS", 1))
SIZES = (("8", "60"), ("200", "2"))  # threads and rounds


def made(output):
    """The program's counts: its graphs, its blocks, and how many of the rest."""
    graphs, blocks, counts = collections.Counter(), collections.Counter(), collections.Counter()
    for line in output.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            graphs[(int(words[0]), int(words[1]), words[2], int(words[3]), int(words[4]))] += 1
        elif kind == "block":
            blocks[int(words[0])] += 1
        else:
            counts[kind] += int(words[0])
    return graphs, blocks, counts


def of_type(records, kind):
    return [record for record in records if record["type"] == kind]


def graphs_of(records):
    """Each graph of the trace as the program names it; a graph with other threads' kernels, or without any, is told
    by its marks."""
    nodes, edges = collections.defaultdict(list), collections.Counter()
    gone_nodes = {r["node"] for r in of_type(records, "node_destroyed")}
    gone_edges = {r["edge"] for r in of_type(records, "edge_removed")}
    graph_of, marks = {}, collections.defaultdict(set)
    for node in of_type(records, "node"):
        graph_of[node["id"]] = node["graph"]
        if "grid" in node:
            marks[node["graph"]].add(tuple(node["grid"][:2]))
        if node["id"] not in gone_nodes:
            nodes[node["graph"]].append(node["id"])
    for edge in of_type(records, "edge"):
        ends = {edge["from"], edge["to"]}
        assert len({graph_of[end] for end in ends}) == 1, f"an edge between graphs: {edge}"
        if edge["id"] not in gone_edges and not ends & gone_nodes:
            edges[graph_of[edge["from"]]] += 1
    found = collections.Counter()
    for graph in of_type(records, "graph"):
        at = graph["id"]
        mark = min(marks[at]) if len(marks[at]) == 1 else tuple(sorted(marks[at]))
        found[(*mark, graph["origin"], len(nodes[at]), edges[at])] += 1
    return found


def check_ends(records, kind, ending, key, count):
    """So many were made, and each ended once."""
    assert len(of_type(records, kind)) == count, (kind, len(of_type(records, kind)), count)
    ends = collections.Counter(r[key] for r in of_type(records, ending))
    assert len(ends) == count and set(ends.values()) <= {1}, (ending, len(ends), count, ends.most_common(3))


def check_memory(records, blocks):
    """Each block is there once, is freed once, and lies where no other one does."""
    allocs = {r["id"]: r for r in of_type(records, "alloc")}
    assert collections.Counter(r["size"] for r in allocs.values()) == blocks
    check_ends(records, "alloc", "free", "memory", sum(blocks.values()))
    live = {}
    for record in records:
        if record["type"] == "free":
            live.pop(record["memory"])
        elif record["type"] == "alloc":
            begin = int(record["address"], 16)
            end = begin + record["size"]
            assert all(end <= b or e <= begin for b, e in live.values()), f"{record} over another block"
            live[record["id"]] = (begin, end)


def check_events(records, count):
    """Each event is recorded once, waited for once, and gone."""
    streams = {r["id"] for r in of_type(records, "stream") if r.get("kind", "created") == "created"}
    for kind in ("event_record", "event_wait"):
        uses = collections.Counter(r["event"] for r in of_type(records, kind))
        assert len(uses) == count and set(uses.values()) == {1}, (kind, len(uses), count)
        assert all(r.get("capturing") and r["stream"] in streams for r in of_type(records, kind)), kind
    check_ends(records, "event", "event_destroyed", "event", count)


def check(records, output):
    graphs, blocks, counts = made(output)
    found = graphs_of(records)
    assert found == graphs, f"not in the program: {list((found - graphs).items())[:3]}; " \
                            f"not in the trace: {list((graphs - found).items())[:3]}"
    check_ends(records, "graph", "graph_destroyed", "graph", sum(graphs.values()))
    check_ends([r for r in records if r["type"] != "stream" or "kind" not in r], "stream", "stream_destroyed", "stream",
               counts["stream"])
    check_ends(records, "exec", "exec_destroyed", "exec", counts["exec"])
    pools = [r for r in records if r["type"] != "pool" or r["kind"] == "stream"]
    check_ends(pools, "pool", "pool_destroyed", "pool", counts["pool"])
    check_events(records, counts["event"])
    check_memory(records, blocks)
    launches = collections.Counter(r["exec"] for r in of_type(records, "launch"))
    assert len(launches) == counts["exec"] and sum(launches.values()) == counts["launch"], launches


def run(folder, program, threads, rounds):
    code, out, err = trace(folder, program, "--threads", threads, "--rounds", rounds)
    assert code == 0, (code, err)
    check(load(folder / "trace.json"), out)
    done = subprocess.run([BUILD / "bin/graphkit", "analyze", "--format", "json", folder / "trace.json"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_threads_that_are_given_each_others_handles(folder):
    wrong = []
    for i in range(RUNS):
        try:
            run(folder, BUILD / "tests" / ARGUMENTS.handles, *SIZES[i % len(SIZES)])
        except AssertionError as error:
            wrong.append(str(error)[:300])
    print(f"    {len(wrong)} of {RUNS} runs wrong")
    assert not wrong, wrong[0]
