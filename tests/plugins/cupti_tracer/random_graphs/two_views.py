"""Two views of the graphs of one run of random_graphs: what the CUDA API told the program (Dump), and the trace
(Traced); and how they differ.

Graphs and execs are joined by handle and by how often that handle was given before. Nodes have no name in common, so
they are told apart by what they are and by their neighbours: colours, refined along the edges round by round
(Weisfeiler and Leman), must be the same on both sides.
"""

import collections
import json

MODES = ("global", "thread_local", "relaxed")
OUTERMOST = ("capture", "explicit", "clone")
FIRST_TO_SAY_UPDATES = 130000  # CUPTI's version; before, which nodes an update changes isn't known


def new_graph(origin, original):
    return {"origin": origin, "original": original, "nodes": {}, "edges": [], "captures": [], "gone": False}


def new_exec(of, flags):
    return {"of": of, "flags": flags, "launches": 0, "updates": []}


def merged(accesses):
    """One access for each place; what two parameters say of it is joined as docs/format.md has it."""
    modes = {}
    for address, mode, *extent in accesses:  # length and rows, where they are known
        known = modes.setdefault((address, *extent), mode)
        if known != mode:
            modes[address, *extent] = "?" if "?" in (known, mode) else "rw"
    return sorted([address, mode, *extent] for (address, *extent), mode in modes.items())


def settled(node):
    """A description in which order says nothing, without what is empty."""
    node = {key: value for key, value in node.items() if value not in ([], {}, None)}
    if "access" in node:
        node["access"] = merged(node["access"])
    return node


class Dump:
    """The program's output: graphs and execs by label, and the labels that each handle had."""

    def __init__(self, lines):
        self.graphs, self.execs = {}, {}
        self.graph_labels, self.exec_labels = collections.defaultdict(list), collections.defaultdict(list)
        self.sets = collections.defaultdict(lambda: collections.defaultdict(list))  # by graph and node, by exec
        self.enabled = collections.defaultdict(dict)
        self.unseen = set()  # graphs that were gone before they could be asked
        self.moved = set()  # graphs that went into others
        self.works = collections.Counter()  # work that ran at once
        self.updated_execs = set()  # as a whole, or a child graph of theirs
        self.updated = set()  # graphs that are what an exec became by an update
        ended = False
        for line in map(json.loads, lines):
            ended = "end" in line
            kind = next(iter(line))
            if not ended:
                getattr(self, "on_" + kind)(line[kind], line)
        if not ended:
            raise ValueError("the program did not come to its end")

    def on_made(self, label, line):
        self.graphs[label] = new_graph(line["origin"], line["original"])
        self.graph_labels[line["handle"]].append(label)
        self.unseen.add(label)

    def on_moved(self, label, _):
        self.moved.add(label)

    def on_work(self, kind, line):
        described = {key: value for key, value in line.items() if key != "work"}
        self.works[json.dumps(settled({**described, "kind": kind}), sort_keys=True)] += 1

    def on_gone(self, label, _):
        self.graphs[label]["gone"] = True

    def on_captured(self, label, line):
        self.graphs[label]["captures"].append([MODES[line["mode"]], line["error"]])

    def on_graph(self, label, line):
        self.unseen.discard(label)
        self.graphs[label]["edges"] = [(start, end, *data) for start, end, *data in line["edges"]]
        self.graphs[label]["nodes"] = {}
        for node in line["nodes"]:
            handle = node.pop("node")
            node["sets"] = dict(self.sets[label, handle])
            node["disabled"] = sorted(name for name, on in self.enabled[label, handle].items() if not on)
            self.graphs[label]["nodes"][handle] = settled(node)

    def on_exec(self, label, line):
        self.execs[label] = new_exec(line["of"], line["flags"])
        self.exec_labels[line["handle"]].append(label)

    def on_set(self, label, line):
        self.sets[line["in"], line["node"]][label].append(settled(line["params"]))
        if "child" in line["params"]:
            self.updated_execs.add(label)

    def on_updated(self, label, line):
        self.execs[label]["updates"].append([line["by"], line["result"]])
        if line["result"] == 0:
            self.updated_execs.add(label)

    def on_embedded(self, label, line):
        if line["exec"] in self.updated_execs:
            self.updated.add(label)

    def on_enabled(self, label, line):
        for node, on in line["nodes"]:
            self.enabled[line["in"], node][label] = on

    def on_launched(self, label, _):
        self.execs[label]["launches"] += 1

    def on_node_gone(self, node, line):
        self.sets.pop((line["of"], node), None)
        self.enabled.pop((line["of"], node), None)


class Traced:
    """The same of a trace, labelled as the dump has it. `differences`: what has no counterpart there."""

    def __init__(self, records, dump):
        self.graphs, self.execs, self.differences, self.works = {}, {}, [], collections.Counter()
        self.graph_names, self.exec_names, self.nodes, self.graph_of = {}, {}, {}, {}
        self.by_id = collections.defaultdict(dict)
        for record in records:
            if "id" in record:
                self.by_id[record["type"]][record["id"]] = record
        self.unnamed = {"graph": {key: list(names) for key, names in dump.graph_labels.items()},
                        "exec": {key: list(names) for key, names in dump.exec_labels.items()}}
        for record in records:
            handler = getattr(self, "on_" + record["type"], None)
            if handler:
                handler(record)
        for kind, handles in self.unnamed.items():
            self.differences += [f"{kind} {name} is not in the trace" for names in handles.values() for name in names]
        for name, graph in self.graphs.items():
            graph["nodes"] = {node: self.described(self.nodes[node]) for node in graph["nodes"]}

    def name(self, record):
        """The label of a graph or exec: of those that had its handle, the next."""
        names = self.unnamed[record["type"]].get(record["handle"], [])
        if not names:
            self.differences.append(f"the program has no such {record['type']}: {record}")
        return names.pop(0) if names else f"unknown {record['type']} {record['id']}"

    def on_graph(self, record):
        name = self.graph_names[record["id"]] = self.name(record)
        self.graphs[name] = new_graph(record["origin"], self.graph_names.get(record.get("original"), ""))

    def on_graph_destroyed(self, record):
        self.graphs[self.graph_names[record["graph"]]]["gone"] = True

    def on_capture_begin(self, record):
        self.graphs[self.graph_names[record["graph"]]]["captures"].append([record["mode"], "open"])

    def on_capture_end(self, record):
        begin = self.by_id["capture_begin"][record["capture"]]
        for capture in self.graphs[self.graph_names[begin["graph"]]]["captures"]:
            if capture[1] == "open":
                capture[1] = record.get("error", 0)

    def on_node(self, record):
        self.nodes[record["id"]] = {**record, "sets": collections.defaultdict(list), "off": {},
                                     "off_anywhere": False}
        self.graphs[self.graph_names[record["graph"]]]["nodes"][record["id"]] = None

    def graph_with(self, node):
        return self.graphs[self.graph_names[self.nodes[node]["graph"]]]

    def on_node_destroyed(self, record):
        graph, node = self.graph_with(record["node"]), record["node"]
        graph["nodes"].pop(node)
        graph["edges"] = [edge for edge in graph["edges"] if node not in edge[:2]]

    def on_edge(self, record):
        data = [record.get(key, 0) for key in ("from_port", "to_port", "edge_type")]
        self.graph_with(record["from"])["edges"].append((record["from"], record["to"], *data))

    def on_edge_removed(self, record):
        edge = self.by_id["edge"][record["edge"]]
        edges = self.graph_with(edge["from"])["edges"]
        edges[:] = [kept for kept in edges if kept[:2] != (edge["from"], edge["to"])]

    def on_exec(self, record):
        name = self.exec_names[record["id"]] = self.name(record)
        self.execs[name] = new_exec(self.graph_names[record["graph"]], record.get("flags", 0))
        for first, count, *_ in record.get("node_ids", []):
            for node in range(first, first + count):
                if self.nodes[node]["off_anywhere"]:
                    self.nodes[node]["off"][name] = True

    def on_exec_updated(self, record):
        update = [self.graph_names[record["graph"]], record.get("result", 0)]
        self.execs[self.exec_names[record["exec"]]]["updates"].append(update)

    def on_launch(self, record):
        self.execs[self.exec_names[record["exec"]]]["launches"] += 1

    def on_work(self, record):
        self.works[json.dumps({**self.parameters(record), "kind": record["kind"]}, sort_keys=True)] += 1

    def on_node_set(self, record):
        node = self.nodes[record["node"]]
        if "exec" not in record:
            if record["what"] == "params":
                kept = {key: node[key] for key in ("id", "graph", "kind", "sets", "off", "off_anywhere")}
                self.nodes[record["node"]] = {**record, **kept}
            elif record["what"] == "disabled":  # a copy of a node that is off in an exec
                node["off_anywhere"] = True
            return
        name = self.exec_names[record["exec"]]
        if record["what"] == "params":
            node["sets"][name].append(self.parameters({**record, "kind": node["kind"]}))
        else:
            node["off"][name] = record["what"] == "disabled"

    def described(self, node):
        off = sorted(name for name, off in node["off"].items() if off)
        return settled({"kind": node["kind"], "sets": dict(node["sets"]), "disabled": off, **self.parameters(node)})

    def parameters(self, node):
        """As the program prints them, from a node's record or a node_set's."""
        kind, block = node["kind"], self.by_id["alloc"].get(node.get("memory"), {})
        shown = {"access": [self.access(*access) for access in node.get("access", [])]}
        if kind == "kernel":
            shown["name"] = self.by_id["kernel"].get(node.get("kernel"), {}).get("name")
            shown |= {"grid": node.get("grid", [1, 1, 1]), "block": node.get("block", [1, 1, 1])}
            shown["shared"] = node.get("shared", 0)
        if "event" in node:
            shown["event"] = self.by_id["event"][node["event"]]["handle"]
        if kind == "mem_alloc":
            shown["memory"] = [block.get("address"), block.get("size")]
        if kind == "mem_free":
            shown["memory"] = block.get("address")
        if "conditional" in node:
            shown["conditional"] = node["conditional"]
        for key in ("child", "bodies"):
            if kind in ("graph", "conditional") and key in node:
                ids = node[key] if key == "bodies" else [node[key]]
                handles = [self.by_id["graph"][graph]["handle"] for graph in ids]
                shown[key] = handles if key == "bodies" else handles[0]
        return settled(shown)

    def access(self, block, mode, offset, length, *rows):
        address = hex(int(self.by_id["alloc"][block]["address"], 16) + offset)
        return [address, mode] if length < 0 else [address, mode, length, *rows]


def colours(graph):
    """Colours that distinguish the nodes of a graph, by node."""
    colour = {node: json.dumps(what, sort_keys=True) for node, what in graph["nodes"].items()}
    for _ in range(len(colour)):
        around = collections.defaultdict(list)
        for start, end, *data in graph["edges"]:
            around[start].append(("to", colour.get(end), *data))
            around[end].append(("from", colour.get(start), *data))
        refined = {node: hash((colour[node], tuple(sorted(around[node], key=str)))) for node in colour}
        if len(set(refined.values())) == len(set(map(str, colour.values()))) and _ > 0:
            break
        colour = refined
    return colour


def without_work(graph):
    return {**graph, "nodes": {node: {"kind": what["kind"]} for node, what in graph["nodes"].items()}}


def is_of_updated(name, dump, traced):
    """True if the graph is the result of an exec's update, or a copy of such a graph."""
    while name in traced.graphs and name not in dump.updated:
        name = traced.graphs[name]["original"]
    return name in dump.updated


def only(what, told, traced):
    return [f"{what}: only {who}: {item}" for who, more, less in
            (("the API", told, traced), ("the trace", traced, told)) for item in (more - less).elements()]


def compared(name, told, traced):
    """How one graph differs: its nodes, then how they are connected."""
    nodes = [collections.Counter(json.dumps(node, sort_keys=True) for node in graph["nodes"].values())
             for graph in (told, traced)]
    found = only(f"graph {name}", *nodes)
    if found:
        return found
    shown = []
    for graph in (told, traced):
        kinds = {node: f"{what['kind']} {json.dumps(what, sort_keys=True)}" for node, what in graph["nodes"].items()}
        shown.append(collections.Counter((kinds.get(a, a), kinds.get(b, b), *data) for a, b, *data in graph["edges"]))
    found = only(f"graph {name}: edge", *shown)
    if not found and sorted(colours(told).values()) != sorted(colours(traced).values()):
        found = [f"graph {name}: its nodes are connected in another way"]
    return found


def differences(records, lines):
    """The differences between the trace and the API's view, a line for each."""
    dump = Dump(lines)
    says_updates = next(record["cupti"] for record in records if record["type"] == "process") >= FIRST_TO_SAY_UPDATES
    traced = Traced(records, dump)
    found = list(traced.differences)
    everything = any(record.get("all_work") for record in records if record["type"] == "process")
    found += only("work", dump.works if everything else dump.works & traced.works, traced.works)
    for name, told in dump.graphs.items():
        graph = traced.graphs.get(name)
        if graph is None:
            continue
        keys = ["origin", "captures"] + (["gone"] if told["origin"] in OUTERMOST and name not in dump.moved else [])
        keys += ["original"] if told["original"] else []
        found += [f"graph {name}: {key} is {told[key]}, in the trace {graph[key]}" for key in keys
                  if told[key] != graph[key]]
        if not says_updates and is_of_updated(name, dump, traced):
            told, graph = without_work(told), without_work(graph)
        if name not in dump.unseen:
            found += compared(name, told, graph)
    for name, told in dump.execs.items():
        if name in traced.execs and traced.execs[name] != told:
            found.append(f"exec {name} is {told}, in the trace {traced.execs[name]}")
    return found
