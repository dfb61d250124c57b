"""Traces as lists of records, to be changed by tests: a change leaves records out, moves, copies or edits them, and
`written` numbers what is left in the order of appearance, as the format asks (docs/format.md)."""

import copy
import json
import pathlib
import random

HEAD = '{"schema":"graphkit-trace","version":1,"device":"soft","records":['
# The keys that give an id, and those that refer to one.
DEFINE = {"stream": "stream", "thread": "thread", "pool": "pool", "segment": "segment", "alloc": "block",
          "event": "event", "kernel": "kernel", "stack": "stack", "graph": "graph", "capture_begin": "capture",
          "node": "node", "edge": "edge", "exec": "exec"}
REFER = {key: key for key in ("stream", "thread", "pool", "segment", "event", "kernel", "stack", "graph", "capture",
                              "exec", "node", "edge")}
REFER |= {"memory": "block", "from": "node", "to": "node", "child": "graph", "parent": "node", "original": "graph"}

AGAIN = 1_000_000  # above every id of a file


def read(path: pathlib.Path) -> list:
    records = json.loads(path.read_text())["records"]
    return [r for r in records if r["type"] != "end"]


def _renumber(record: dict, ids: dict) -> dict:
    record = copy.deepcopy(record)
    kind = DEFINE.get(record["type"])
    if kind:
        record["id"] = ids[kind].setdefault(record["id"], len(ids[kind]))
    for key, what in REFER.items():
        if key in record:
            record[key] = ids[what].setdefault(record[key], len(ids[what]))
    for access in record.get("access", []):
        access[0] = ids["block"][access[0]]
    record["bodies"] = [ids["graph"].setdefault(b, len(ids["graph"])) for b in record.get("bodies", [])]
    if not record["bodies"]:
        del record["bodies"]
    record.pop("node_ids", None)
    return record


def written(records: list, whole: bool = True) -> str:
    ids = {kind: {} for kind in set(DEFINE.values())}
    lines = [json.dumps(_renumber(r, ids), separators=(",", ":")) + ",\n" for r in records]
    return f"{HEAD}\n{''.join(lines)}" + (f'{{"type":"end","records":{len(lines)}}}]}}\n' if whole else "")


def first(records: list, kind: str, **values) -> dict:
    return next(r for r in records if r["type"] == kind and all(r.get(k) == v for k, v in values.items()))


def without(records: list, drop) -> list:
    return [r for r in records if not drop(r)]


def _owners(records: list, of: str) -> list:
    """Of each record the capture that it belongs to (of="graph"), or the thread of that (of="thread")."""
    captures = {r["graph"]: r["thread"] if of == "thread" else r["graph"]
                for r in records if r["type"] == "capture_begin"}
    graph_of = {"node": {}, "block": {}, "capture": {}}
    owners = []
    for r in records:
        graph = r["id"] if r["type"] == "graph" else r.get("graph")
        for key, kind in (("from", "node"), ("memory", "block"), ("capture", "capture")):
            if graph is None and key in r:
                graph = graph_of[kind].get(r[key])
        if r["type"] in ("node", "alloc", "capture_begin"):
            graph_of[DEFINE[r["type"]]][r["id"]] = graph
        made = r["type"] not in ("exec", "launch", "exec_destroyed", "graph_destroyed", "segment_freed")
        owners.append(captures.get(graph) if made else None)
    return owners


def interleaved(records: list, seed: int, by: str = "thread") -> list:
    """The captures of a program, those of each thread in their order, and else in another one. What belongs to none
    stands before them when it defines something, and after them otherwise. Captures that begin after graphs were destroyed
    stay behind that: the program waited, and else more graphs would hold memory at once than in any of its runs."""
    rng = random.Random(seed)
    changed, part, destroyed = [], [], False
    for record, owner in zip(records, _owners(records, by)):
        if destroyed and record["type"] == "capture_begin":
            changed += _interleaved(part, rng, by)
            part, destroyed = [], False
        destroyed = destroyed or record["type"] == "graph_destroyed"
        part.append((record, owner))
    return changed + _interleaved(part, rng, by)


def _interleaved(part: list, rng: random.Random, by: str) -> list:
    queues, before, after = {}, [], []
    for record, owner in part:
        if owner is not None:
            queues.setdefault(owner, []).append(record)
        else:
            shared = record["type"] in DEFINE and record["type"] != "exec"
            (before if shared or record["type"] == "process" else after).append(record)
    order = list(queues)
    rng.shuffle(order)
    if by == "graph":  # one thread captures one after the other
        return before + [r for owner in order for r in queues[owner]] + after
    moved = []
    while queues:
        owner = rng.choice(list(queues))
        moved.append(queues[owner].pop(0))
        if not queues[owner]:
            del queues[owner]
    return before + moved + after


def elsewhere(records: list, shift: int = 0x40000000) -> list:
    """The same run as another process: other addresses, handles, pid and threads."""
    records = copy.deepcopy(records)
    for r in records:
        for key in ("address", "handle"):
            if key in r:
                r[key] = hex(int(r[key], 16) + shift)
        for key in ("pid", "tid"):
            if key in r:
                r[key] += 1000
    return records


def deferred(records: list, block: int) -> list:
    """The block's free waits for the end of its capture."""
    graph = first(records, "alloc", id=block)["graph"]
    capture = first(records, "capture_begin", graph=graph)["id"]
    changed = []
    for r in records:
        freed = r["type"] == "free" and r["memory"] == block
        changed.append(r | {"type": "free_requested"} if freed else r)
        if r["type"] == "capture_end" and r["capture"] == capture:
            changed.append({"type": "free_completed", "memory": block})
    return changed


def freed_in_capture(records: list) -> list:
    graphs = {r["id"] for r in records if r["type"] == "alloc" and "graph" in r and "stream" in r}
    freed, captured = [], True
    for r in records:
        if r["type"] == "exec":
            captured = False
        if r["type"] == "free" and r["memory"] in graphs and captured:
            freed.append(r["memory"])
    return freed


def with_another_graph(records: list) -> list:
    """The first capture is made once more, after the last one."""
    owners = _owners(records, "graph")
    graph = next(owner for owner in owners if owner is not None)
    blocks = {r["id"] for r in records if r["type"] == "alloc" and r.get("graph") == graph}
    new = {"graph", "capture", "node", "edge", "segment"}

    def again(record: dict) -> dict:
        record = copy.deepcopy(record)
        kind = DEFINE.get(record["type"])
        if kind in new or kind == "block":
            record["id"] += AGAIN
        for key, what in REFER.items():
            if key in record and (what in new or (what == "block" and record[key] in blocks)):
                record[key] += AGAIN
        for access in record.get("access", []):
            access[0] += AGAIN if access[0] in blocks else 0
        return record

    last = max(i for i, r in enumerate(records) if r["type"] == "capture_end")
    copied = [again(r) for r, owner in zip(records[:last + 1], owners) if owner == graph]
    return records[:last + 1] + copied + records[last + 1:]
