"""Every view of every workload shows the numbers of `graphkit analyze --format json`: the text, the report, drawings, exports, the
gate, a diff with itself.

usage: all_views.py GRAPHKIT TESTDATA
"""

import base64
import csv
import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import unittest
import zlib

GRAPHKIT, TESTDATA = "", pathlib.Path()


def graphkit(*arguments: str, codes: tuple[int, ...] = (0, 3)) -> str:
    done = subprocess.run([GRAPHKIT, *arguments], capture_output=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"graphkit {' '.join(arguments)}: exit {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def traces() -> list[pathlib.Path]:
    return sorted((TESTDATA / "traces" / "soft").glob("*.json")) + sorted((TESTDATA / "traces").glob("hand_*.json"))


def size_text(count: int) -> str:
    """As libgraphkit/units.h documents it."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            break
    return f"{value:.{0 if value == int(value) else 2 if value < 10 else 1}f} {unit}"


def counted(count: int, noun: str) -> str:
    return f"{count:,}".replace(",", " ") + f" {noun}" + ("" if count == 1 else "s")


def unpack(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """A column of libgraphkit/render/report/packed_columns.h."""
    values, last = [], 0
    for _ in range(count):
        number, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        last += -(number + 1) // 2 if number % 2 else number // 2
        values.append(last)
    return values, at


def report_data(page: str) -> tuple[dict, dict[str, list[int]]]:
    blob = re.search(r'<script id="data"[^>]*>([^<]*)</script>', page).group(1)
    data = zlib.decompress(base64.b64decode(blob))
    (length,) = struct.unpack_from("<I", data, len(data) - 4)
    content, columns, at = json.loads(data[:length]), {}, length
    for name, count, _ in content["page"]["columns"]:
        columns[name], at = unpack(data, at, count)
    assert at == len(data) - 4
    return content, columns


class Views(unittest.TestCase):
    trace = pathlib.Path()

    def setUp(self):
        self.truth = json.loads(graphkit("analyze", str(self.trace), "--format", "json"))
        self.totals = self.truth["totals"]

    def view(self, *arguments: str, **options) -> str:
        return graphkit(arguments[0], str(self.trace), *arguments[1:], **options)

    def test_text(self):
        text = self.view("analyze", "--top", "0")
        totals = ", ".join(counted(self.totals[n], n[:-1]) for n in ("graphs", "nodes", "edges", "blocks"))
        self.assertIn(totals, text)
        if re.search("^graph +nodes +edges", text, re.MULTILINE):
            return  # a trace of many graphs has a table, whose numbers tests/render looks at
        parts = {}
        for part in re.finditer(r"^graph (\d+)[ ,].*\n(?:  graphs? ([\d, and\n]+) (?:is|are) like it\n)?(?:  .*\n)*", text, re.MULTILINE):
            for graph in [part[1], *re.findall(r"\d+", part[2] or "")]:
                parts[int(graph)] = " ".join(part[0].split())
        for graph in self.truth["graphs"]:
            self.check_text(graph, parts[graph["id"]])

    def check_text(self, graph: dict, part: str):
        self.assertIn(f"nodes {graph['nodes']:,}".replace(",", " "), part)
        self.assertIn(f"edges {graph['edges']:,}".replace(",", " "), part)
        if graph["blocks"] == 0:
            return
        figures = {"peak live": "peak_live_bytes", "address range": "recorded_extent_bytes", "lower bound": "lower_bound_bytes"}
        if graph["deferred_bytes"] > 0:
            figures["deferred"] = "deferred_bytes"
        for name, key in figures.items():
            self.assertIn(f"{name} {size_text(graph[key])}", part)

    def test_dot(self):
        dot = self.view("dot", "--fold", "none")
        nodes = sum(g["nodes"] for g in self.truth["graphs"])
        edges = sum(g["edges"] for g in self.truth["graphs"])
        self.assertEqual(nodes, len(re.findall(r"^\s*n\d+ \[shape", dot, re.MULTILINE)))
        drawn = re.findall(r"^\s*n\d+ -> (?:n|empty_g)\d+ \[(.)", dot, re.MULTILINE)
        self.assertEqual(edges, sum(attribute == "s" for attribute in drawn))

    def test_graphs_as_json(self):
        graphs = json.loads(self.view("export", "--format", "json"))["graphs"]
        self.assertEqual([(g["id"], g["nodes"], g["edges"]) for g in self.truth["graphs"]],
                         [(g["id"], len(g["nodes"]), len(g["edges"])) for g in graphs])

    def made_into_segments(self) -> set[int]:
        """Blocks of the driver's that an allocator hands out in blocks: they aren't counted again."""
        lines = [line.rstrip(",") for line in self.trace.read_text().splitlines() if line.startswith('{"type":"segment"')]
        return {record["memory"] for record in map(json.loads, lines) if "memory" in record}

    def test_csv(self):
        def rows(table: str) -> list[dict]:
            return list(csv.DictReader(io.StringIO(self.view("export", "--format", "csv", "--table", table))))
        blocks = [row for row in rows("blocks") if int(row["block"]) not in self.made_into_segments()]
        self.assertEqual(self.totals["blocks"], len(blocks))
        self.assertEqual(self.totals["launches"], len(rows("launches")))
        self.assertEqual(self.totals["allocated_bytes"],
                         sum(-(-int(block["size"]) // 512) * 512 for block in blocks))
        nodes = [row for row in rows("nodes") if not row["destroyed"]]
        self.assertGreaterEqual(sum(g["nodes"] for g in self.truth["graphs"]), len(nodes))

    def test_perfetto(self):
        events = json.loads(self.view("export", "--format", "perfetto"))["traceEvents"]
        slices = [e for e in events if e["ph"] == "X"]
        for graph in self.truth["graphs"]:
            self.assertEqual(graph["nodes"], sum(e["cat"] == "node" and e["args"]["graph"] == graph["id"] for e in slices))
        self.assertEqual(self.totals["launches"], sum(e["cat"] == "launch" for e in slices))

    def test_gate(self):
        verdict = json.loads(self.view("check", "--format", "json", "--limit", "max-deferred=0", codes=(0, 1, 3)))
        seen = verdict["traces"][0]
        self.assertEqual([self.totals[n] for n in ("graphs", "nodes", "blocks")], [seen[n] for n in ("graphs", "nodes", "blocks")])
        self.assertEqual([f["message"] for f in self.truth["findings"]], [f["message"] for f in verdict["findings"]])
        deferred = {f"graph {g['id']}": g["deferred_bytes"] for g in self.truth["graphs"]}
        for measure in verdict["measures"]:
            name = re.match(r"graph \d+", measure["subject"])
            if name:
                self.assertEqual(deferred[name.group()], measure["value"])

    def test_diff_with_itself(self):
        diff = json.loads(graphkit("diff", str(self.trace), str(self.trace), "--format", "json"))
        self.assertTrue(diff["equal"])

    def test_report(self):
        content, columns = report_data(self.view("report", "-o", "-"))
        pairs = self.reuse_pairs(columns, content["page"]["texts"]["assumptions"])
        for graph, count in zip(content["analyze"]["graphs"], columns["graphs.reuse"]):
            graph["reuse"] = [next(pairs) for _ in range(count)]
        self.assertEqual(self.truth, content["analyze"])
        first = 0
        for view, count in zip(content["page"]["views"], columns["views.blocks"]):
            drawn = {name: columns[name][first:first + count] for name in columns if name.startswith("view.block")}
            first += count
            if view["root"] is not None:
                graph = next(g for g in self.truth["graphs"] if g["id"] == view["root"])
                self.check_drawing(graph, view, drawn, columns)

    @staticmethod
    def reuse_pairs(columns: dict[str, list[int]], assumptions: list[str]):
        """As `analyze` has them; the page has them as columns, of all graphs one behind the other."""
        rows = zip(*(columns[f"reuse.{name}"] for name in ("earlier", "later", "bytes", "assumes")))
        for earlier, later, size, assumes in rows:
            yield {"earlier": earlier, "later": later, "bytes": size, "assumes": assumptions[assumes]}

    def check_drawing(self, graph: dict, view: dict, drawn: dict[str, list[int]], columns: dict[str, list[int]]):
        self.assertEqual(graph["recorded_extent_bytes"], view["extent"])
        self.assertEqual(graph["blocks"], len(drawn["view.block"]))
        changes: dict[int, list[int]] = {}
        for block, begin, freed, end in zip(*(drawn[f"view.block{what}"] for what in ("", ".begin", ".freed", ".end"))):
            size = -(-columns["block.size"][block] // 512) * 512
            for x, live, late in ((begin, size, 0), (freed, -size, size), (end, 0, -size)):
                change = changes.setdefault(x, [0, 0])
                change[0] += live
                change[1] += late
        live = late = peak = most = 0
        for x in sorted(x for x in changes if x < view["width"]):
            live, late = live + changes[x][0], late + changes[x][1]
            peak, most = max(peak, live), max(most, late)
        self.assertEqual((graph["peak_live_bytes"], graph["deferred_bytes"]), (peak, most))


def load() -> unittest.TestSuite:
    suite = unittest.TestSuite()
    for trace in traces():
        of_trace = type(f"Views of {trace.stem}", (Views,), {"trace": trace})
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(of_trace))
    return suite


if __name__ == "__main__":
    GRAPHKIT, TESTDATA = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(not unittest.TextTestRunner().run(load()).wasSuccessful())
