#!/usr/bin/env python3
"""check_certificate.py TRACE CERTIFICATE: prints "proved", or the first thing that isn't by docs/certificate.md (exit code 1).
The clock of a point (the start or end of a node, where a stream stands): {chain: how many of its first nodes have ended}."""
import bisect, functools, graphlib, heapq, itertools, json, re, sys, zlib
from collections import defaultdict
NEVER, START, KNOWN, PLACED = 1 << 62, {"over": {}}, ("arguments", "torch-streams"), ("stream", "graph", "allocator", "private")
def need(true, *words): return true or sys.exit("not proved: " + " ".join(map(str, words)))
def within(small, large): return all(large.get(chain, 0) >= number for chain, number in small.items())
def join(clocks): return {chain: max(clock.get(chain, 0) for clock in clocks) for chain in set().union(*clocks)}
class Trace:
    def __init__(self, text, by_free=False):  # by_free: a block's streams say when it is over, not the nodes that touch it
        self.of = of = defaultdict(list)  # records by type; those with ids by id
        self.nodes, self.blocks, self.previous, self.live = of["node"], of["alloc"], [[]], []  # previous: by point
        self.holder, self.closed, self.runs, self.strays, self.read = {}, {}, {}, [], set()
        self.versions, self.pools, self.loose = defaultdict(dict), defaultdict(dict), defaultdict(list)
        execs, at, event = {}, defaultdict(lambda: (None, 0)), defaultdict(lambda: (None, 0))  # a graph, and a point in it
        need(text.startswith(b'{"schema":"graphkit-trace","version":1,'), "this is no trace")
        for seq, line in enumerate(itertools.takewhile(lambda x: b'"type":"end"' not in x, text.split(b"\0")[0].split(b"\n")[1:-1])):
            r = json.loads(line.rstrip(b", \t\r"))
            kind, stream, block, (what, _, then) = r["type"], r.get("stream"), r.get("memory"), r["type"].partition("_")
            at[None] = event[None] = (None, 0)
            (graph, point), (other, more) = at[stream], event[r.get("event")]
            points = [self.nodes[n]["start" if port or sort else "end"] for n, port, sort in r.get("entries", [])]
            need(r.get("id", len(of[kind])) == len(of[kind]), "record", seq, "has a wrong id")
            of[kind].append(r.update(seq=seq, gone=NEVER, touches=self.touched(r), begin=int(r.get("address", "0"), 16)) or r)
            if then in ("destroyed", "removed", "freed"): of[what][r[what]]["gone"] = seq
            elif kind == "graph" and "parent" in r: self.holder[r["id"]] = self.nodes[r["parent"]]
            elif kind == "exec" or kind == "exec_updated" and r.get("result", 0) == 0:
                execs[r.get("exec", r.get("id"))], self.versions[r["graph"]][seq] = (r["graph"], seq), False
            elif kind == "launch" and "exec" in r:
                self.versions[execs[r["exec"]][0]][execs[r["exec"]][1]] = True
                self.runs.update({pool: (self.runs.get(pool, [seq])[0], seq) for pool in self.pools[execs[r["exec"]][0]]})
            elif kind == "node":
                at[stream] = r["graph"], r.update(start=self.point(), end=self.point(len(self.previous) - 1)) or r["end"]
                self.holder.update({graph: r for graph in r.get("bodies", [r["child"]] if "child" in r else [])})
                if r["kind"] == "mem_alloc": self.blocks[block].setdefault("maker", r)
            elif kind == "node_set":
                n, root = self.nodes[r["node"]], self.outer(self.nodes[r["node"]])["graph"]
                plain = r["what"] in ("enabled", "disabled") or r["what"] == "params" and (r.get("complete") or r.get("access"))
                need(plain and execs.get(r.get("exec"), (root,))[0] == root, "the change of node", n["id"], "isn't covered")
                n.update(touches={**n["touches"], **r["touches"]}, changed=True)
            elif kind == "capture_begin": at[stream], self.closed[r["graph"]] = (r["graph"], 0), NEVER
            elif kind == "capture_end":
                self.closed[of["capture_begin"][r["capture"]]["graph"]] = seq
                at.update({s: (None, 0) for s in at if self.closed.get(at[s][0]) == seq})
            elif r.get("external"): pass  # an event of the graph's own nodes
            elif kind == "event_record": event[r["event"]] = (graph, self.point(*points) if "entries" in r else point)
            elif kind == "event_wait" and self.closed.get(other) == NEVER and graph in (None, other):
                at[stream] = (other, self.point(point, more))
            elif kind == "frontier": at[stream] = (graph, self.point(*points, *[point] * (r["mode"] == "add")))
            elif kind == "alloc":
                r.update(at=point, of=graph, streams={stream}, left={}, placed=of["pool"][r["pool"]]["kind"] in PLACED)
                if r["placed"]: bisect.insort(self.live, (r["begin"], r["id"])), self.pools[r.get("graph")].setdefault(r["pool"], seq)
            elif kind == "record_stream" and "freed" not in self.blocks[block]: self.blocks[block]["streams"].add(stream)
            elif kind == "work": self.read.update(r["touches"])
            if what == "free" or r.get("kind") == "mem_free":
                b, place = self.blocks[block], bisect.bisect(self.live, (self.blocks[block]["begin"], block))
                if "freed" not in b: b.update(freed=b["streams"].update({stream} - {None}) or r, free_at=[at[s] for s in b["streams"]])
                if kind != "free_requested" and self.live[place - 1:place] == [(b["begin"], block)]: del self.live[place - 1]
        self.order(), self.lives(by_free)
    def point(self, *previous): return self.previous.append(list(previous)) or len(self.previous) - 1
    def touched(self, r):  # the blocks that accesses name, or run into; and whether one says how
        found = defaultdict(bool)
        for number, mode, offset, length, *_ in r.get("access", []):
            block, begin = self.blocks[number], self.blocks[number]["begin"] + offset
            end, inside = begin + max(length, 1), block["placed"] and offset + max(length, 1) <= block["size"]
            near = [] if inside else self.live[max(bisect.bisect(self.live, (begin, NEVER)) - 1, 0):bisect.bisect(self.live, (end,))]
            if not block["placed"]: self.strays.append(dict(id=number, begin=begin, size=end - begin, placed=True, stays={-1}))
            for n in [number] + [n for at, n in near if begin < at + self.blocks[n]["size"]]: found[n] |= mode != "?"
        return found
    def outer(self, n, graph=None):  # of a node inside a node of the graph, that one; without a graph, the outermost one
        return n if n["graph"] == graph or n["graph"] not in self.holder else self.outer(self.holder[n["graph"]], graph)
    def order(self):  # gives the points their clocks, and the nodes that count their chain and place in it
        for n in self.nodes:
            n["root"], holder = self.outer(n)["graph"], self.holder.get(n["graph"])
            versions = self.versions[n["root"]] or {self.of["graph"][n["graph"]]["gone"]: True}
            n["in"] = {seq for seq in versions if n["seq"] < seq <= n["gone"] and versions[seq] == max(versions.values())}
            for p, q in [(n["start"], holder["start"]), (holder["end"], n["end"])] if holder else []: self.previous[p].append(q)
        for e in self.of["edge"]:
            a, b, full = self.nodes[e["from"]], self.nodes[e["to"]], not e.get("from_port") and not e.get("edge_type")
            if b["in"] and all(seq in a["in"] and e["seq"] < seq <= e["gone"] for seq in b["in"]):
                self.previous[b["start"]].append(a["end" if full else "start"])
                waits = "kernel" in b and self.of["kernel"][b["kernel"]].get("waits") == "yes" and "changed" not in b
                self.previous[b["end"]] += [a["end"]] if waits else []
            if b["in"] and not full: self.loose[b["root"]].append((a, b))
        ends, length, self.clock = {n["end"]: n for n in self.nodes if n["in"]}, [], [{}] * len(self.previous)
        for point in graphlib.TopologicalSorter(dict(enumerate(self.previous))).static_order():
            clocks = list({id(self.clock[p]): self.clock[p] for p in self.previous[point]}.values())
            self.clock[point] = clock = clocks[0] if len(clocks) == 1 else join(clocks)
            if point in ends:  # the node goes on with a chain that has ended as a whole, or begins one
                chain = next((c for c, number in clock.items() if number == length[c]), len(length))
                length[chain:chain + 1] = [clock.get(chain, 0) + 1]
                ends[point]["over"], self.clock[point] = {chain: length[chain]}, {**clock, chain: length[chain]}
    def lives(self, by_free):  # of placed blocks: what has ended before anything touches it; what must, before others take it
        self.uses, self.opaque, rows, users, clock = *[defaultdict(list) for _ in range(3)], defaultdict(set), self.clock
        for n in filter(lambda n: n["in"], self.nodes):
            kernel = self.of["kernel"][n["kernel"]] if "kernel" in n else {}
            known = n.get("complete") or n.get("access") or n["kind"] not in ("kernel", "unknown") or "params" in kernel
            if not known: self.opaque[n["root"]].append(n["seq"])
            words = [size // 8 for _, size in kernel.get("params", []) if size > 8]  # of structures, and of arrays of pointers
            sure = "changed" in n or all(re.search(f"(arrayIPcLm|ArrayIPcLi){size}E", kernel["name"]) for size in words)
            for m, how in n["touches"].items(): users[m].add(n["root"]), self.uses[m, n["root"]].append((n, sure or how))
            rows[n.get("stream"), n["root"]].append((n["seq"], n["id"]))
        backing = {segment.get("memory") for segment in self.of["segment"]}
        for b in self.blocks:
            maker, free = b.get("maker", {"graph": b.get("graph"), "in": True}), b.get("freed", {"seq": NEVER})
            b["root"] = root = self.outer(maker)["graph"] if b["placed"] and b["id"] not in backing and maker["in"] else None
            at, made, by_node = {self.outer({"graph": g})["graph"] for g, _ in b.get("free_at", [])}, "maker" in b, "in" in free
            uses, words = [[n for n, sure in self.uses[b["id"], root] if sure == which] for which in (True, False)]
            begin = clock[maker["start"] if made else b["at"] if self.outer({"graph": b["of"]})["graph"] == root else 0]
            opaque, b["users"], b["end"] = self.opaque[root], users[b["id"]], free["seq"]
            begun = 0 if root is not None else self.runs.get(b["pool"], [NEVER])[0]  # of its pool's graphs, the first launch
            b["inside"] = free["in"] and free["root"] == root if by_node else free["seq"] < self.closed.get(root, begun)
            end, whole = min(free["seq"], self.closed.get(root, NEVER)), b["inside"] and (by_node or at <= {root})
            streams = by_free or (opaque if made else bisect.bisect(opaque, b["seq"]) < bisect.bisect(opaque, end))
            ran = [rows[s, root] for s in b["streams"] if (streams or words) and not by_node]
            ran = [self.nodes[n] for row in ran for _, n in row[bisect.bisect(row, (b["seq"],)):bisect.bisect(row, (end,))]]
            early = uses + [n for n in ran if streams and n.get("stream") == b.get("stream")]
            early = [n for n in early if not within(begin, clock[n["start"]])]
            over = join([begin, clock[free.get("end", 0)]] + [clock[at] for _, at in b.get("free_at", [])])
            loose = [edge for edge in self.loose[root] if by_node and within(begin, clock[edge[0]["start"]])]
            late = [(n, START) for n in (uses if by_node else ran + early)] + loose  # what may still run then, after which end
            while more := [n for n, to in late if within(to["over"], over) and not within(n["over"], over)]:
                over = join([over] + [clock[n["end"]] for n in more])
            uses += [n for n in words if within(begin, clock[n["start"]]) and (not whole or within(n["over"], over))]
            last = [] if by_free else [self.outer(n, maker["graph"]) for n in uses] or [maker] * made
            b["need"] = join([n["over"] for n in last] + [over if streams else begin] * bool(streams or not last))
            b["until"], b["since"] = free["seq"] if streams else -1 if last else b["seq"], min(r["seq"] for r in [b] + early)
            b["first"] = {c: min([number] + [clock[n["start"]].get(c, 0) for n in early]) for c, number in begin.items()}
            b["dies"] = b["users"] <= {root} and (whole or b["inside"] and not streams)
            b["stays"] = {root, root if b["dies"] and (root is None or b["id"] not in self.read) else -1}  # -1: between launches
def apart(x, y, g): return g not in x["stays"] or g in x["left"] and x["end"] < y["seq"] and within(x["left"][g], y["first"])
def before(x, y, timed=False):
    if x["root"] != y["root"]: return apart(x, y, y["root"]) and apart(y, x, x["root"])
    return x["dies"] and within(x["need"], y["first"]) and not (timed and x["until"] >= y["since"])
@functools.cmp_to_key
def Key(x, y):
    need(x is y or before(x, y) or before(y, x), "nothing orders block", y["id"], "and block", x["id"], "in the same bytes")
    return before(y, x) - before(x, y)
def check(text, c):
    need((c.get("schema"), c.get("version")) == ("graphkit-certificate", 1) and c.get("assumes") in KNOWN, "its form is unknown")
    need(c["trace"] == {"bytes": len(text), "crc32": zlib.crc32(text)}, "it is of another trace")
    t, steps, groups = Trace(text, c["assumes"] == KNOWN[1]), c.get("sequence", []), c.get("captured", [])
    wanted = {b["id"]: b for b in t.blocks if b["root"] is not None and (not steps or b["root"] in steps)}
    for b in wanted.values():  # what stays while the graphs run that were captured later
        b["arena"] = [None if steps else b["root"], b["pool"]]
        for group in [group for group in groups if b["root"] in group]:
            later, b["arena"] = group[group.index(b["root"]) + 1:], [group[0], b["pool"]]
            b["stays"] |= (stay := {graph for graph in later if t.pools[graph].get(b["pool"], NEVER) <= b["end"]})
            freed_in = [g for g in stay if c["assumes"] == KNOWN[0] and b["end"] < min([t.closed.get(g, 0)] + t.opaque[g][:1])]
            b["left"] = {g: join([t.clock[t.outer(n)["end"]] for n, _ in t.uses[b["id"], g]]) for g in freed_in}  # its uses there
    for b in [b for b in wanted.values() if steps and (not b["inside"] or b["id"] in t.read)]:
        kept, b["dies"] = b["id"] in t.read or not b["users"] & set(steps) - {b["root"]}, False
        for later in [x[:x.index(b["root"])] for i, g in enumerate(steps) if g == b["root"] for x in [steps[i + 1:] + steps]]:
            b["stays"] |= {graph for k, graph in enumerate(later) if kept or b["users"] & set(later[k:])}
    for at, size in c.get("lent", []):  # between launches, at recorded addresses
        there = [s for s in t.of["segment"] if s["gone"] > t.runs.get(s["pool"], [0])[-1]]  # while its graphs ran
        need(any(0 <= at - s["begin"] <= s["size"] - size for s in there), "no segment has the bytes lent at", at)
        for b in [b for b in t.blocks + t.strays if b["placed"] and -b["size"] < b["begin"] - at < size]:
            need(-1 not in b["stays"], "block", b["id"], "is needed in the bytes lent at", at)
    for arena in c["arenas"]:
        antichain = [t.blocks[number] for number in set(arena["heaviest"])]
        for offset, size, *span in arena.get("loans", []):  # as blocks: between launches, or from one node to the end of another
            at, last = [t.nodes[n] for n in span] or [{**START, "graph": -1, "root": -1, "start": 0, "end": 0}] * 2
            need(at["graph"] == at["root"] == last["graph"] and within(at["over"], t.clock[last["end"]]), "no loan at", *span)
            loan = dict(root=at["root"], stays={at["root"]}, left={}, need=last["over"], first=t.clock[at["start"]], dies=bool(span))
            arena["blocks"], wanted[len(t.blocks)] = arena["blocks"] + [[len(t.blocks), offset, size]], loan
            t.blocks.append(loan.update(id="lent", size=size, arena=[arena["graph"], arena["pool"]]) or loan)
        check_plan(t.blocks, arena, wanted), check_bound(antichain, arena, bool(steps or groups))
    need(not wanted, "block", min(wanted, default=0), "is left out")
    for key in ("peak_bytes", "lower_bound_bytes"): need(c[key] == sum(a[key] for a in c["arenas"]), key, "isn't their sum")
def check_plan(blocks, arena, wanted):
    rows, ends, top = defaultdict(list), [], 0  # rows: at an address, by graph, blocks, each before the next one
    for number, offset, size in sorted(arena["blocks"], key=lambda placed: placed[1]):
        b = wanted.pop(number, {"arena": None, "size": 0})
        need(b["arena"] == [arena["graph"], arena["pool"]], "block", number, "isn't of its arena")
        need(size == -(-b["size"] // 512) * 512, "the size of block", number, "isn't the trace's")
        need(offset >= 0 and offset % 512 == 0, "block", number, "has a wrong offset")
        b["arena"], top = (arena, size), max(top, offset + size if size else 0)
        if size == 0: continue
        while ends and ends[0][0] <= offset:
            ended = blocks[heapq.heappop(ends)[1]]
            del rows[ended["root"]][bisect.bisect_left(rows[ended["root"]], Key(ended))]
        bisect.insort(rows[b["root"]], Key(b)), heapq.heappush(ends, (offset + size, number))
        for other in [other.obj for graph in rows if graph != b["root"] for other in rows[graph]]:
            need(before(other, b), "block", other["id"], "and block", b["id"], "have the same bytes, and one is still needed")
    need(top == arena["peak_bytes"], "the peak is", top)
def check_bound(antichain, arena, shared):
    sizes, waits = [size for of, size in [b["arena"] for b in antichain] if of is arena], defaultdict(list)  # by chain
    need(sum(sizes) == arena["lower_bound_bytes"], "the bound isn't the sum of its blocks")
    for b in antichain:
        chain, count = max(b["need"].items(), key=lambda item: item[1], default=(None, 0))
        bisect.insort(waits[chain], (count, b["id"], b))
    for y, (chain, row) in itertools.product(antichain, waits.items()):
        for _, number, x in row if shared else row[:bisect.bisect(row, (y["first"].get(chain, 0), NEVER))]:
            need(x is y or not before(x, y, True), "of the bound, block", number, "and block", y["id"], "may share bytes")
if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"): sys.exit(__doc__)
    try: print(check(open(sys.argv[1], "rb").read(), json.load(open(sys.argv[2]))) or "proved")
    except Exception as error: sys.exit(f"not proved: not in the form of docs/certificate.md: {type(error).__name__} {error}")
