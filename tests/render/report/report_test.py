"""The HTML report in a real browser: it loads, shows the numbers of `analyze`, zooms, finds, highlights, and takes names as data.

Usage: report_test.py GRAPHKIT TESTDATA    Exits with 77 where Chromium or its driver isn't installed.
"""

import collections
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, available

GRAPHKIT, TESTDATA, WORK = "", pathlib.Path(), pathlib.Path()
SKIPPED = 77
READY = "app.loadedIn || !document.getElementById('empty').hidden"
MOST_BYTES = 20_000_000  # of the report of 100 000 nodes


def graphkit(*arguments: str, codes: tuple[int, ...] = (0, 3)) -> str:
    done = subprocess.run([GRAPHKIT, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"graphkit {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def report_of(trace: pathlib.Path, *options: str) -> pathlib.Path:
    page = WORK / (trace.stem + ".html")
    graphkit("report", str(trace), "-o", str(page), *options)
    return page


def analyze(trace: pathlib.Path) -> dict:
    return json.loads(graphkit("analyze", str(trace), "--format", "json"))


def bills_of(trace: pathlib.Path, by: str) -> dict:
    """The lines of each graph's memory bill."""
    report = json.loads(graphkit("analyze", str(trace), "--format", "json", "--by", by))
    return {graph["id"]: graph["memory_by"]["lines"] for graph in report["graphs"] if "memory_by" in graph}


def traces() -> list[pathlib.Path]:
    return sorted((TESTDATA / "traces" / "soft").glob("*.json")) + sorted((TESTDATA / "traces").glob("hand_*.json"))


def size_text(count: int) -> str:
    """As libgraphkit/units.h documents it: at most four significant digits, exact below 1 KiB."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1023.95:
            break
    return f"{value:.{0 if value == int(value) else 2 if value < 10 else 1}f} {unit}"


def count_text(count: int) -> str:
    return f"{count:,}"


def expected_figures(graph: dict) -> dict[str, str]:
    figures = {"nodes": count_text(graph["nodes"]), "edges": count_text(graph["edges"]),
               "longest path": f"{count_text(graph['critical_path_nodes'])} nodes", "blocks": count_text(graph["blocks"])}
    if graph["blocks"] == 0:
        return figures
    figures |= {"peak live": size_text(graph["peak_live_bytes"]), "deferred": size_text(graph["deferred_bytes"]),
                "address range": size_text(graph["recorded_extent_bytes"]),
                "lower bound": size_text(graph["lower_bound_bytes"])}
    if graph["never_freed_bytes"] > 0:
        figures["never freed"] = size_text(graph["never_freed_bytes"])
    return figures


SHOWN_FIGURES = """
const shown = {};
for (const figure of document.querySelectorAll("[data-figure]")) shown[figure.dataset.figure] = figure.querySelector(".value").textContent;
return shown;
"""

# Bytes as they are drawn, at full resolution.
DRAWN_BYTES = """
const {live, held} = app.view.levels[0];
let peak = 0, deferred = 0;
live.forEach((bytes, x) => { peak = Math.max(peak, bytes); deferred = Math.max(deferred, held[x] - bytes); });
return {peak, deferred, extent: app.view.extent, policy: app.view.policy_extent};
"""


# The lines of a graph's memory bill.
BILL = """
const {columns, rows} = billOf(app.view, arguments[0]);
return Array.from(rows, (row) => columns.map(({value, text}, i) => i === 0 && text ? text(value(row)) : value(row)));
"""

# The peak, its moment in order, and who holds it.
AT_PEAK = """
const {view, groups} = app;
return [view.peakBytes, app.at === view.peakX, view.orderOf(view.peakX), groups.heldAt(view.peakX).map(({group, bytes}) => [groups.keys[group], bytes])];
"""

# The contents of a table: the heads that sort it, its cells.
TABLE = """
const table = document.querySelector(arguments[0]);
return {sorted: [...table.querySelectorAll("th")].map((head) => head.getAttribute("aria-sort")),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))};
"""


# Pairs of text and ground that are too close in a theme.
CONTRAST = """
setTheme(arguments[0]);
const style = getComputedStyle(document.documentElement), tooClose = [];
const light = (name) => {
  const parts = rgbOf(style.getPropertyValue(`--${name}`).trim()).map((part) => part / 255).map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
  return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
};
const check = (text, ground) => {
  const [a, b] = [light(text), light(ground)].sort((x, y) => y - x);
  if ((a + .05) / (b + .05) < 4.5) tooClose.push(`${text} on ${ground}`);
};
for (const text of ["ink", "pale", "accent", "warning", "error", "note", "good"]) for (const ground of ["paper", "ground", "soft"]) check(text, ground);
for (const ground of ["rest", "nostack", "earlier", ...Array.from({length: GROUP_COLORS}, (_, i) => `group${i}`)]) check("on-node", ground);
for (const kind of app.trace.texts.kinds) check("on-node", style.getPropertyValue(`--${KIND_COLORS[kind] || kind}`) ? KIND_COLORS[kind] || kind : "unknown");
return tooClose;
"""


class Page(unittest.TestCase):
    browser: Browser

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def open(self, page: pathlib.Path) -> None:
        self.browser.open(page)
        self.browser.wait_for(READY)

    def picture(self, canvas: str) -> str:
        self.browser.run("app.draw()")
        return self.browser.run(f"return document.getElementById('{canvas}').toDataURL()")

    def check_quiet(self) -> None:
        self.assertEqual([], [line["message"] for line in self.browser.log()])
        self.assertEqual(0, self.browser.run("return performance.getEntriesByType('resource').length"))


class Numbers(Page):
    def check_graph(self, graph: dict, replayed: dict, shared: set) -> None:
        shown = self.browser.run(SHOWN_FIGURES)
        for name, text in expected_figures(graph).items():
            self.assertEqual(text, shown.get(name), f"graph {graph['id']}: {name}")
        drawn = self.browser.run(DRAWN_BYTES)
        self.assertEqual(graph["recorded_extent_bytes"], drawn["extent"])
        if graph["blocks"] > 0:
            self.assertEqual((graph["peak_live_bytes"], graph["deferred_bytes"]), (drawn["peak"], drawn["deferred"]))
        # The replay of a graph that shares a pool has what earlier graphs keep there, too.
        compare = self.assertLessEqual if graph["id"] in shared else self.assertEqual
        compare(drawn["policy"], replayed.get(graph["id"], 0))

    def check_bills(self, graph: int, bills: dict) -> None:
        for by, of_graphs in bills.items():
            shown = self.browser.run(BILL, by)
            keys = ["name", "bytes", *(["blocks"] if by != "block" else []), "reuse_bytes"]
            lines = [[line[key] for key in keys] for line in of_graphs.get(graph, [])]
            self.assertEqual(sorted(lines), sorted(shown), f"graph {graph} by {by}")

    def test_every_view_of_every_trace_shows_the_numbers_of_analyze(self):
        for trace in traces():
            with self.subTest(trace=trace.name):
                report = analyze(trace)
                replayed = {}
                if any(g["blocks"] > 0 for g in report["graphs"]):  # else there is nothing to replay
                    policy = json.loads(graphkit("replay", str(trace), "--allocator", "reuse", "--format", "json"))
                    replayed = {g["id"]: g["peak_extent_bytes"] for g in policy["policies"][0]["graphs"]}
                pools = collections.Counter(pool["pool"] for g in report["graphs"] for pool in g["pools"])
                shared = {g["id"] for g in report["graphs"] if any(pools[pool["pool"]] > 1 for pool in g["pools"])}
                self.open(report_of(trace))
                self.assertEqual(report, self.browser.run("return app.trace.analyze"))
                self.assertEqual(len(report["findings"]), self.browser.run("return document.querySelectorAll('[data-finding]').length"))
                bills = {by: bills_of(trace, by) for by in ("stack", "stream", "pool", "block")}
                roots = self.browser.run("return app.trace.views.map(view => view.root)")
                for index, root in enumerate(roots):
                    self.browser.run(f"showView(app.trace.views[{index}]); app.draw()")
                    if root is not None:
                        self.check_graph(next(g for g in report["graphs"] if g["id"] == root), replayed, shared)
                        self.check_bills(root, bills)
                self.check_quiet()

    def test_an_incomplete_trace_says_so(self):
        self.open(report_of(TESTDATA / "traces" / "hand_truncated.json"))
        self.assertIn("incomplete", self.browser.run("return document.getElementById('warning').textContent"))

    def test_a_narrow_window_keeps_the_parts_of_the_head_apart(self):
        self.browser.devtools("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
        self.addCleanup(self.browser.devtools, "Emulation.clearDeviceMetricsOverride")
        self.open(report_of(TESTDATA / "traces" / "soft" / "record_stream.json"))
        boxes = self.browser.run("""return [...document.querySelectorAll('.brand b, #program, #device, #search, #theme, #help')]
            .map((part) => part.getBoundingClientRect()).map((box) => [box.left, box.top, box.right, box.bottom]);""")
        for i, (left, top, right, bottom) in enumerate(boxes):
            self.assertLessEqual(right, 400)
            for other in boxes[i + 1:]:
                apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
                self.assertTrue(apart, f"{boxes[i]} covers {other}")

    def test_a_snapshot_shows_no_zeros_of_graphs(self):
        self.open(report_of(TESTDATA / "torch-snapshots" / "transformer_small.pickle"))
        self.assertEqual(["blocks", "peak reserved", "peak in use", "in use at the end"],
                         self.browser.run("return [...document.querySelectorAll('#figures .name')].map((name) => name.textContent)"))
        self.assertNotIn("Graphs", self.browser.run("return document.getElementById('tabs').innerText"))
        self.assertIn("allocated before recording began (no stack)",
                      self.browser.run("return document.getElementById('bill-panel').textContent"))

    def test_a_trace_without_graphs_says_what_to_do(self):
        trace = WORK / "nothing.json"
        trace.write_text('{"schema":"graphkit-trace","version":1,"device":"soft","records":[\n'
                         '{"type":"process","pid":1,"program":"./app"},\n{"type":"end","records":1}]}\n')
        self.open(report_of(trace))
        self.assertIn("graphkit trace -o trace.json", self.browser.run("return document.getElementById('empty').textContent"))


    def test_a_drawing_shows_no_zeros_of_memory(self):
        self.open(report_of(TESTDATA / "dot" / "cuda_graph.dot"))
        for panel in ("findings", "bill", "graphs"):
            self.assertNotIn("0 B", self.browser.run(f"showTab('{panel}-panel'); return document.body.innerText"))
        self.assertEqual("unknown", self.browser.run(SHOWN_FIGURES)["memory"])
        for part in ("memory-note", "bill-panel"):
            self.assertIn("a drawing has no sizes of memory", self.browser.run(f"return document.getElementById('{part}').textContent"))

    def test_a_finding_leads_to_the_page_of_its_check(self):
        for trace in traces():
            self.open(report_of(trace))
            for index, finding in enumerate(analyze(trace)["findings"]):
                self.browser.run(f"document.querySelector('[data-finding=\"{index}\"] .mono').click()")
                page = (TESTDATA.parent / "docs" / "checks" / f"{finding['check']}.md").read_text()
                shown = self.browser.run("const text = document.querySelector('dialog[open]').innerText; document.querySelector('dialog').close(); return text")
                self.assertEqual(sorted(re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "", page))), sorted(re.findall(r"\w+", shown)[:-1]), finding["check"])
        self.check_quiet()

    def test_what_is_found_can_be_shown_and_nothing_else_is_offered(self):
        for trace in traces():
            self.open(report_of(trace))
            for index, finding in enumerate(analyze(trace)["findings"]):
                named = [bool(e["nodes"] + e["blocks"] + e["edges"]) for e in finding["evidence"]]
                offered = self.browser.run(f"return [...document.querySelectorAll('[data-finding=\"{index}\"] .evidence')].map((item) => Boolean(item.querySelector('button')))")
                self.assertEqual(named, offered)
                leads = any(named) or bool(finding["nodes"] + finding["blocks"]) or finding["graph"] is not None
                card = f"document.querySelector('[data-finding=\"{index}\"]')"
                self.assertEqual(leads, self.browser.run(f"return {card}.querySelector('.message').matches('button')"))
                if leads:
                    self.assertTrue(self.browser.run(f"{card}.click(); return Boolean(app.picked) || app.view.root === {json.dumps(finding['graph'])}"))

    def test_the_keyboard_leads_from_a_finding_to_its_block(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "leaky.json"))
        self.browser.run("document.querySelector('[data-finding=\"1\"] .message').focus()")
        self.browser.press("\ue007")
        self.assertEqual([3], self.browser.run("return [...app.picked.blocks]"))
        self.browser.press("\ue004", "\ue007")  # tab, to the evidence
        self.assertIn("block 3 (3 MiB)", self.browser.run("showTab('details-panel'); return document.getElementById('details-panel').innerText"))


    def test_text_stands_out_in_light_and_dark(self):
        """At least 4.5 to 1, WCAG 2.1's level AA."""
        self.open(report_of(TESTDATA / "traces" / "soft" / "record_stream.json"))
        for name in ("light", "dark"):
            self.assertEqual([], self.browser.run(CONTRAST, name), name)

    def test_nodes_leave_room_for_launches(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "leaky.json"))
        self.assertTrue(self.browser.run("""
          showView(app.trace.views.at(-1));
          const view = app.view, plot = app.parts[3].plot();
          app.setTime(view.launchX.at(-1) - 20, view.launchX.at(-1) + 4);
          return [...view.launches.keys()].every((i) => [...view.nodes.keys()].every((k) => {
            const box = nodeBox(plot, k), x = xOf(plot, view.launchX[i] + .6);
            return view.nodeLane[k] !== view.launchLane[i] || view.nodeX[k] > view.launchX[i] || box.x + box.w <= x;
          }));"""))


class Tables(Page):
    """A click on a column's head sorts by it, the next one the other way round."""

    def rows(self, selector: str) -> list[list[str]]:
        return self.browser.run(TABLE, selector)["rows"]

    def test_bytes_counts_and_names_are_sorted_as_such(self):
        self.open(report_of(TESTDATA / "torch-snapshots" / "transformer_small.pickle"))
        self.browser.run("showTab('bill-panel')")
        table = "#bill-panel table"
        self.assertEqual([None, "descending", None, None], self.browser.run(TABLE, table)["sorted"])
        largest = self.rows(table)
        self.browser.click(f"{table} th:nth-child(2) button")
        self.assertEqual([None, "ascending", None, None], self.browser.run(TABLE, table)["sorted"])
        smallest = self.rows(table)
        self.assertEqual(len(largest), len(smallest))
        self.assertFalse({row[0] for row in largest} & {row[0] for row in smallest})  # of all, not of those in sight
        self.browser.click(f"{table} th:nth-child(4) button")
        blocks = [int(row[3].replace(",", "")) for row in self.rows(table)]
        self.assertEqual(sorted(blocks, reverse=True), blocks)
        self.assertEqual(228, blocks[0])
        self.browser.click(f"{table} th:nth-child(1) button")
        names = [row[0] for row in self.rows(table)]
        self.assertEqual("allocated before recording began (no stack)", names[0])
        self.assertEqual([None, None, None, "ascending"][::-1], self.browser.run(TABLE, table)["sorted"])

    def test_the_keyboard_sorts_and_opens(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "inference_server.json"))
        self.browser.run("showTab('graphs-panel'); document.querySelector('#graphs-panel th:nth-child(3) button').focus()")
        self.browser.press("\ue007", "\ue007")
        self.assertEqual(["4 MiB", "8 MiB", "16 MiB", "32 MiB"], [row[2] for row in self.rows("#graphs-panel table")])
        self.browser.run("document.querySelector('#graphs-panel tbody button').focus()")
        self.browser.press("\ue007")
        self.assertEqual(3, self.browser.run("return app.view.root"))
        self.assertEqual("3", self.browser.run("return document.querySelector('#graphs-panel .picked').dataset.graph"))

    def test_unknown_values_come_last_both_ways(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "inference_server.json"))
        for descending in ("true", "false"):
            self.assertEqual(None, self.browser.run(f"return [2, null, 1].sort((a, b) => compareValues(a, b, {descending})).at(-1)"))

    def test_the_first_rows_are_those_of_a_whole_sort(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "inference_server.json"))
        self.assertTrue(self.browser.run("""
          const rows = Array.from({length: 5000}, (_, i) => ({i, value: (i * 7919) % 61})), compare = (a, b) => a.value - b.value;
          const sorted = [...rows].sort(compare).slice(0, 300), found = firstRows(rows, compare, 300);
          return found.length === 300 && found.every((row, k) => row === sorted[k]);"""))


class Hands(Page):
    """A person's actions with mouse and keyboard, on the record_stream workload."""

    def setUp(self):
        self.trace = TESTDATA / "traces" / "soft" / "record_stream.json"
        self.open(report_of(self.trace))

    def span(self) -> float:
        return self.browser.run("return app.t1 - app.t0")

    def test_the_wheel_zooms_and_the_key_0_shows_everything_again(self):
        whole, before = self.span(), self.picture("recorded")
        self.browser.wheel("#recorded", 0, -400)
        self.assertLess(self.span(), whole)
        self.assertNotEqual(before, self.picture("recorded"))
        self.browser.press("0")
        self.assertEqual(whole, self.span())
        self.assertEqual(before, self.picture("recorded"))

    def test_dragging_moves_all_drawings(self):
        self.browser.run("app.zoomTime(.4)")
        before, start = self.picture("lanes"), self.browser.run("return app.t0")
        self.browser.pointer("#recorded", {"type": "pointerMove", "x": 0, "y": 0}, {"type": "pointerDown", "button": 0},
                             {"type": "pointerMove", "x": -60, "y": 0}, {"type": "pointerUp", "button": 0})
        self.assertGreater(self.browser.run("return app.t0"), start)
        self.assertNotEqual(before, self.picture("lanes"))

    def test_a_click_on_a_finding_marks_what_it_is_about(self):
        finding = analyze(self.trace)["findings"][0]
        before = self.picture("recorded")
        self.browser.click('[data-finding="0"] .message')
        blocks = set(finding["blocks"]).union(*(e["blocks"] for e in finding["evidence"]))
        nodes = set(finding["nodes"]).union(*(e["nodes"] for e in finding["evidence"]))
        picked = self.browser.run("return [[...app.picked.blocks], [...app.picked.nodes]]")
        self.assertEqual([blocks, nodes], [set(ids) for ids in picked])
        self.assertNotEqual(before, self.picture("recorded"))

    def test_a_click_on_evidence_marks_that_alone(self):
        finding = analyze(self.trace)["findings"][0]
        self.browser.click('[data-finding="0"] .evidence')
        self.assertEqual([finding["evidence"][0]["blocks"], finding["evidence"][0]["nodes"]],
                         self.browser.run("return [[...app.picked.blocks], [...app.picked.nodes]]"))

    def test_a_click_on_a_block_shows_all_about_it(self):
        self.browser.run("app.draw()")
        x, y = self.browser.run("""
          const plot = app.parts[1].plot(), i = app.view.blockAt.get(14), box = document.getElementById("recorded");
          const r = rectangleOf(plot, app.view.begin[i], app.view.freed[i], app.view.offset[i], app.view.size[i]);
          return [Math.round(r.x + r.w / 2 - box.clientWidth / 2), Math.round(r.y + r.h / 2 - box.clientHeight / 2)];""")
        self.browser.pointer("#recorded", {"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0},
                             {"type": "pointerUp", "button": 0})
        self.assertIn("block 14", self.browser.run("return document.getElementById('details-panel').textContent"))

    def test_a_click_on_what_is_deferred_tells_why(self):
        x, y = self.browser.run(LAYER, self.browser.run("return app.view.peakX"), "deferred: freed, but not yet usable again")
        self.browser.pointer("#area", {"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
        shown = self.browser.run("return document.getElementById('details-panel').innerText")
        self.assertIn("48 MiB", shown)
        self.assertIn("deferred-record-stream: 36 MiB in blocks 5, 8 and 11", shown)
        self.assertEqual([5, 8, 11, 14], self.browser.run("return [...app.picked.blocks]"))
        self.browser.click("#details-panel .list button")
        self.assertEqual([5], self.browser.run("return [...app.picked.blocks]"))
        self.browser.click("#details-panel .list button")  # the first finding about it
        self.assertRegex(self.browser.run("return location.hash"), r"^#finding=\d$")

    def test_finding_a_kernel_goes_to_it(self):
        self.browser.press("/", *"reduce")
        self.assertIn("node 12 Reduce", self.browser.run("return document.getElementById('hits').textContent"))
        self.browser.press("\ue007")
        self.assertEqual([12], self.browser.run("return [...app.picked.nodes]"))

    def test_the_critical_path_is_as_long_as_analyze_says(self):
        before = self.picture("lanes")
        self.browser.press("c")
        self.assertNotEqual(before, self.picture("lanes"))
        self.assertEqual(analyze(self.trace)["graphs"][0]["critical_path_nodes"],
                         self.browser.run("return app.view.longestPath.length"))

    def test_light_and_dark_differ(self):
        before = self.picture("recorded")
        self.browser.press("t")
        self.assertNotEqual(before, self.picture("recorded"))

    def test_an_address_leads_to_a_node(self):
        self.browser.run("location.hash = '#node=7'")
        self.browser.wait_for("app.shown && app.shown.node === 7")

    def test_it_prints(self):
        pdf = WORK / "report.pdf"
        self.browser.print_pdf(pdf)
        self.assertGreater(pdf.stat().st_size, 10_000)


SNAPSHOTS = "torch-snapshots"
SHOWN_HOLDERS = """
return [...document.querySelectorAll("#holders tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
"""
CHOSEN = """
const {groups} = app, entry = document.querySelector("#group-legend [aria-pressed=true]"), row = document.querySelector("#holders .picked");
return {name: groups.chosen < 0 ? null : groups.names[groups.chosen], legend: entry && entry.textContent, table: row && row.cells[0].textContent,
  at: app.at, hash: decodeURIComponent(location.hash)};
"""
# The middle of a layer of the stacked area at x, from the middle of its drawing.
LAYER = """
app.draw();
const [x, name] = arguments, canvas = document.getElementById("area"), plot = app.parts[4].plot(), state = app.groups.sums.at(x);
let below = 0;
for (const slot of STACKING) {
  if (app.groups.slotName(slot) === name) break;
  below += state[slot];
}
const slot = STACKING.find((s) => app.groups.slotName(s) === name), middle = below + state[slot] / 2;
return [Math.round(xOf(plot, x + .5) - canvas.clientWidth / 2), Math.round(plot.top + plot.height * (1 - middle / areaTop()) - canvas.clientHeight / 2)];
"""
FRAME = """
app.draw();
const canvas = document.getElementById("icicle"), box = icicle.boxes.find(({node}) => node.name.includes(arguments[0]));
return [Math.round(box.x + box.w / 2 - canvas.clientWidth / 2), Math.round(box.y + ICICLE_ROW / 2 - canvas.clientHeight / 2)];
"""


def explain(file: pathlib.Path) -> dict:
    return json.loads(graphkit(str(file), "--format", "json"))


class Memory(Page):
    """Who holds the memory: the area, the map, the call stacks and the table, with one selection."""

    def setUp(self):
        self.file = TESTDATA / SNAPSHOTS / "transformer_small.pickle"
        self.open(report_of(self.file))

    def chosen(self) -> dict:
        return self.browser.run(CHOSEN)

    def click_at(self, selector: str, place: list[int], times: int = 1) -> None:
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.browser.pointer(selector, {"type": "pointerMove", "x": place[0], "y": place[1]}, *(press * times))

    def test_the_holders_of_the_peak_are_those_of_the_text_output(self):
        for file in sorted((TESTDATA / SNAPSHOTS).glob("*.pickle")):
            with self.subTest(file=file.name):
                self.open(report_of(file))
                device = explain(file)["devices"][0]
                self.assertEqual(device["peak_in_use"]["in_use_bytes"], self.browser.run("return app.view.peakBytes"))
                self.assertEqual(f"event {device['peak_event']:,}", self.browser.run("return momentText(app.view, app.view.peakX)"))
                wanted = sorted((holder["bytes"], holder["blocks"], f":{holder['line']}" if holder["line"] else "") for holder in device["holders"])
                shown = self.browser.run("return app.groups.heldAt(app.view.peakX).map(({group, bytes, blocks}) => [bytes, blocks, /:\\d+$/.exec(app.groups.keys[group])?.[0] || ''])")
                self.assertEqual(wanted, sorted(map(tuple, shown)))

    def test_the_area_is_the_sum_of_the_blocks_at_each_moment(self):
        for file in [TESTDATA / "traces" / "soft" / "record_stream.json", *sorted((TESTDATA / SNAPSHOTS).glob("*.pickle"))]:
            self.open(report_of(file))
            wrong = self.browser.run("""
              const {view} = app, wrong = [];
              for (const by of GROUPINGS) for (let k = 0; k <= 40; ++k) {
                const x = Math.floor((view.width - 1) * k / 40), groups = groupsOf(view, by), state = groups.sums.at(x), expected = new Array(SLOTS).fill(0);
                view.blocks.forEach((_, i) => {
                  if (view.begin[i] <= x && x < view.end[i]) expected[x < view.freed[i] ? groups.slot[groups.of[i]] : DEFERRED] += view.size[i];
                });
                if (expected.some((bytes, slot) => bytes !== state[slot])) wrong.push([by, x]);
              }
              const {most, count} = app.groups.sums.cells(0, view.width, 100);
              if (Math.max(...most) !== view.peakBytes || count !== 100) wrong.push("cells");
              return wrong;""")
            self.assertEqual([], wrong, file.name)

    def test_a_click_on_the_area_chooses_the_line_everywhere_and_the_address_keeps_it(self):
        line, x = "cs336_basics/model.py:39 einsum", 1400
        self.click_at("#area", self.browser.run(LAYER, x, line))
        chosen = self.chosen()
        self.assertEqual([line] * 3, [chosen["name"], chosen["legend"], chosen["table"]])
        self.assertLess(abs(chosen["at"] - x), 6)
        self.assertEqual(f"#at={chosen['at']}&line=cs336_basics/model.py:39", chosen["hash"])
        held = self.browser.run(SHOWN_HOLDERS)
        self.browser.run("location.reload()")
        self.browser.wait_for(READY)
        self.assertEqual((chosen, held), (self.chosen(), self.browser.run(SHOWN_HOLDERS)))
        self.browser.press("\ue00c")  # escape
        self.assertIsNone(self.chosen()["name"])
        self.check_quiet()

    def test_lines_are_chosen_in_the_table_the_legend_and_the_map(self):
        self.browser.click("#holders tbody tr:nth-child(2) td")
        self.assertEqual("cs336_basics/model.py:532 silu", self.chosen()["name"])
        self.browser.click("#group-legend .entry:first-child")
        self.assertEqual("cs336_basics/model.py:39 einsum", self.chosen()["table"])
        before = self.picture("recorded")
        self.browser.press("\ue00c")
        self.assertNotEqual(before, self.picture("recorded"))
        x, y, line = self.browser.run("""
          app.draw();
          const {view, groups} = app, plot = app.parts[1].plot(), box = document.getElementById("recorded");
          const i = [...view.size.keys()].filter((k) => view.begin[k] > recordedFrom(view)).reduce((a, b) => view.size[b] * (view.end[b] - view.begin[b]) > view.size[a] * (view.end[a] - view.begin[a]) ? b : a);
          app.setBytes(view.offset[i] - view.size[i], view.offset[i] + 2 * view.size[i]);
          app.draw();
          const r = rectangleOf(plot, view.begin[i], view.freed[i], view.offset[i], view.size[i]);
          return [Math.round(r.x + r.w / 2 - box.clientWidth / 2), Math.round(r.y + r.h / 2 - box.clientHeight / 2), groups.names[groups.of[i]]];""")
        self.click_at("#recorded", [x, y])
        self.assertEqual(line, self.chosen()["name"])
        self.assertRegex(self.chosen()["hash"], r"^#block=\d+$")
        self.assertIn("Allocated at", self.browser.run("return document.getElementById('details-panel').innerText"))

    def test_call_stacks_are_chosen_and_zoomed_by_mouse_and_keyboard(self):
        whole = self.browser.run("return icicle.root.bytes")
        self.assertEqual(self.browser.run("return app.view.peakBytes"), whole)
        self.click_at("#icicle", self.browser.run(FRAME, "einsum"))
        self.assertEqual("cs336_basics/model.py:39 einsum", self.chosen()["name"])
        self.assertIn("Called from", self.browser.run("return document.getElementById('details-panel').innerText"))
        self.click_at("#icicle", self.browser.run(FRAME, "scaled_dot_product"), 2)
        self.assertIn("scaled_dot_product", self.browser.run("return icicle.zoomed.name"))
        self.browser.run("unpick(); zoomIcicle(icicle.root); document.getElementById('icicle').focus()")
        self.browser.press("\ue015", "\ue015", "\ue014", "\ue007")  # down, down, right, enter
        self.assertEqual(2, self.browser.run("return pathOf(icicle.zoomed).length"))
        self.browser.press("\ue003")  # backspace
        self.assertEqual(1, self.browser.run("return pathOf(icicle.zoomed).length"))
        wrong = self.browser.run("""
          const wrong = [], visit = (node) => {
            const below = [...node.children.values()].reduce((sum, child) => sum + child.bytes, 0);
            if (node.children.size > 0 && below > node.bytes) wrong.push(node.name);
            for (const child of node.children.values()) visit(child);
          };
          visit(icicle.root);
          return wrong;""")
        self.assertEqual([], wrong)

    def test_any_moment_shows_who_holds_it(self):
        self.browser.click("#to-end")
        self.assertIn("Held at the end (1.28 GiB)", self.browser.run("return document.getElementById('holders').innerText"))
        self.assertIn("1.28 GiB in use at the end", self.browser.run("return document.getElementById('icicle-title').textContent"))
        self.browser.press("m")
        peak = self.browser.run("return app.at")
        self.assertIn("Held at the peak (13.0 GiB)", self.browser.run("return document.getElementById('holders').innerText"))
        self.browser.press(".", ".", ",")
        self.assertLess(peak, self.browser.run("return app.at"))

    def test_the_axis_can_be_of_seconds(self):
        for name in ("transformer_step", "transformer_small"):
            snapshot = TESTDATA / SNAPSHOTS / f"{name}.pickle"
            # A free that is completed at once has the time of its request.
            events = pickle.loads(snapshot.read_bytes())["device_traces"][0]
            times, sure = [event["time_us"] for event in events], [event["action"] != "free_completed" for event in events]
            self.open(report_of(snapshot))
            before = self.browser.run(AT_PEAK)
            self.browser.press("s")
            self.assertEqual(before, self.browser.run(AT_PEAK))
            self.assertEqual("seconds", self.browser.run("return document.getElementById('axis').value"))
            wrong = self.browser.run("""
              const {view} = app, wrong = [];
              arguments[0].forEach((time, i) => {
                if (!arguments[1][i] || view.events[i] === view.events[i + 1]) return;  // the two share a place, and the later one's time
                const seconds = (time - arguments[0][0]) / 1e6;
                if (Math.abs(view.secondsAt(view.events[i]) - seconds) > 1e-9) wrong.push(i);
                if (Math.abs(view.secondsAt(view.placeOf(seconds)) - seconds) > 1e-9) wrong.push([i, seconds]);
              });
              return wrong.slice(0, 9);""", times, sure)
            self.assertEqual([], wrong)
            # In proportion to time, but for one place for each event.
            share = self.browser.run("return app.view.events[app.view.events.length >> 1] / app.view.events.at(-1)")
            self.assertAlmostEqual((times[len(times) // 2] - times[0]) / (times[-1] - times[0]), share, delta=.06)
            self.browser.press("m", ".", ".")
            self.assertRegex(self.browser.run("return momentText(app.view, app.at)"), r"^event [\d,]+, [\d.]+ (s|ms|µs)$")
            at, address = self.browser.run("return [app.view.orderOf(app.at), location.hash]")
            self.assertIn(f"axis=seconds&at={at}", address)
            self.browser.command("POST", "/refresh", {})
            self.browser.wait_for(READY)
            self.assertEqual([at, address], self.browser.run("return [app.view.orderOf(app.at), location.hash]"))
            self.browser.run("document.getElementById('axis').value = 'order'; document.getElementById('axis').dispatchEvent(new Event('change'))")
            self.assertEqual([at, f"#at={at}"], self.browser.run("return [app.at, location.hash]"))
            self.browser.press("m")
            self.assertEqual(before, self.browser.run(AT_PEAK))
        self.check_quiet()

    def test_the_colours_follow_what_memory_is_grouped_by(self):
        seen = set()
        for _ in range(self.browser.run("return document.getElementById('grouping').options.length")):
            seen.add(self.browser.run("return app.groups.by"))
            total = self.browser.run("return app.groups.heldAt(app.view.peakX).reduce((sum, {bytes}) => sum + bytes, 0)")
            self.assertEqual(self.browser.run("return app.view.peakBytes"), total)
            self.browser.press("g")
        self.assertLessEqual({"line", "module", "category"}, seen)
        self.browser.run("groupBlocks('category')")
        self.assertIn("activations", self.browser.run("return document.getElementById('holders').innerText"))
        self.browser.run("groupBlocks('module')")
        self.assertIn("cs336_basics/nn_utils.py", self.browser.run("return document.getElementById('holders').innerText"))

    def test_a_failure_for_lack_of_memory_is_marked(self):
        file = TESTDATA / "torch-allocator" / "found" / "2.15.0-max-non-split-rounding.pickle.zst"
        failed = explain(file)["devices"][0]["out_of_memory"]
        self.open(report_of(file))
        self.assertEqual("out-of-memory", self.browser.run("return document.querySelector('#findings-panel article .mono').textContent"))
        self.browser.click("#findings-panel article .message")
        self.assertIsNone(self.browser.run("return app.view.root"))
        self.assertEqual(self.browser.run("return [app.view.events[arguments[0]]]", failed["event"]), self.browser.run("return outOfMemoryAt(app.view)"))
        self.assertEqual(self.browser.run("return outOfMemoryAt(app.view)[0]"), self.browser.run("return app.at"))


class Found(Page):
    """One list of findings and hints."""

    def cards(self) -> list[list]:
        return self.browser.run("""return listProblems().map(({finding, hint, severity, bytes}) => [finding === undefined ? "hint" : "finding", finding ?? hint, severity, bytes]);""")

    def test_all_are_listed_errors_first_then_the_most_bytes(self):
        for file in [*traces(), *sorted((TESTDATA / SNAPSHOTS).glob("*.pickle"))]:
            with self.subTest(file=file.name):
                self.open(report_of(file))
                if self.browser.run("return document.getElementById('main').hidden"):
                    continue
                hints = sum(len(device["worth_a_look"]) for device in explain(file)["devices"])
                cards = self.cards()
                self.assertEqual(len(analyze(file)["findings"]), sum(card[0] == "finding" for card in cards))
                self.assertEqual(hints, sum(card[0] == "hint" for card in cards))
                order = [(card[2] != "error", -card[3]) for card in cards]
                self.assertEqual(sorted(order), order)
                self.assertEqual(len(cards), self.browser.run("return document.querySelectorAll('#findings-panel article').length"))
                self.assertEqual(str(len(cards)), self.browser.run("return document.querySelector('[data-panel=findings-panel] small').textContent"))

    def test_a_hint_leads_to_its_line_and_place(self):
        self.open(report_of(TESTDATA / SNAPSHOTS / "transformer_small.pickle"))
        self.browser.click('[data-hint="1"] .message')
        self.assertEqual("cs336_basics/nn_utils.py:6 softmax", self.browser.run(CHOSEN)["name"])
        self.assertEqual("#hint=1&line=cs336_basics/nn_utils.py:6", self.browser.run(CHOSEN)["hash"])
        self.browser.click('[data-hint="0"] .message')
        self.assertEqual(self.browser.run("return app.view.width - 1"), self.browser.run("return app.at"))
        self.browser.click('[data-hint="3"] .message')
        kept = explain(TESTDATA / SNAPSHOTS / "transformer_small.pickle")["devices"][0]["worth_a_look"][3]
        self.assertEqual("forward-kept", kept["kind"])
        self.assertEqual(kept["bytes"], self.browser.run("return [...app.picked.blocks].reduce((sum, id) => sum + app.view.size[app.view.blockAt.get(id)], 0)"))

    def test_the_keys_n_and_p_step_through_the_list(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "record_stream.json"))
        cards = self.cards()
        for i in [*range(len(cards)), 0]:
            self.browser.press("n")
            picked = self.browser.run("const {dataset} = document.querySelector('#findings-panel .picked'); return [dataset.finding === undefined ? 'hint' : 'finding', Number(dataset.finding ?? dataset.hint)]")
            self.assertEqual(cards[i][:2], picked)
        self.browser.press("p")
        self.assertIn(f"{cards[-1][0]}={cards[-1][1]}", self.browser.run("return location.hash"))

    def test_lines_functions_modules_kernels_and_checks_are_found(self):
        self.open(report_of(TESTDATA / SNAPSHOTS / "transformer_small.pickle"))
        for query, hit in [("nn_utils.py:6", "cs336_basics/nn_utils.py:6 softmax"), ("scaled_dot", "scaled_dot_product_attention in cs336_basics/"),
                           ("model.py", "module that allocates"), ("softmax-blocks", "24 × 96 MiB of softmax")]:
            self.browser.run("const box = document.getElementById('search'); box.value = ''; box.blur()")
            self.browser.press("/", *query)
            self.assertIn(hit, self.browser.run("return document.getElementById('hits').textContent"), query)
        self.browser.press("\ue00c", "/")
        self.browser.run("document.getElementById('search').value = ''")
        self.browser.press(*"nn_utils.py:6", "\ue007")
        self.assertEqual("cs336_basics/nn_utils.py:6 softmax", self.browser.run(CHOSEN)["name"])

    def test_the_page_fills_the_window(self):
        self.addCleanup(self.browser.devtools, "Emulation.clearDeviceMetricsOverride")
        for file in (TESTDATA / SNAPSHOTS / "transformer_small.pickle", TESTDATA / "traces" / "soft" / "record_stream.json"):
            page = report_of(file)
            for width in (1400, 420):
                self.browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                self.open(page)
                wide, low, first = self.browser.run("""
                  const parts = [...document.querySelectorAll("#drawings > section")].filter((part) => part.clientHeight > 0);
                  return [document.documentElement.scrollWidth, parts.at(-1).getBoundingClientRect().bottom, document.querySelector("#findings-panel article").getBoundingClientRect().bottom];""")
                self.assertLessEqual(wide, width)
                self.assertGreater(low, 870)
                self.assertLess(first, 900)  # a finding is in sight at once

    def test_it_prints_as_two_pages(self):
        pdf = WORK / "pages.pdf"
        for file in [*traces(), *sorted((TESTDATA / SNAPSHOTS).glob("*.pickle"))]:
            self.open(report_of(file))
            if self.browser.run("return document.getElementById('main').hidden"):
                continue
            self.browser.print_pdf(pdf)
            self.assertEqual(2, len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes())), file.name)
            self.assertEqual("drawings", self.browser.run("return document.getElementById('main').firstElementChild.id"))

    def test_the_versions_of_an_exec_are_in_the_selection(self):
        trace = TESTDATA / "traces" / "soft" / "exec_updates.json"
        versions = {}  # of each exec: [graph, launches], as the trace lists them
        for line in trace.read_text().splitlines()[1:]:
            if not line.endswith(","):  # the end
                continue
            record = json.loads(line.rstrip(","))
            if record["type"] == "exec":
                versions[record["id"]] = [[record["graph"], 0]]
            elif record["type"] == "exec_updated" and not record.get("result"):
                versions[record["exec"]].append([record["graph"], 0])
            elif record["type"] == "launch":
                versions[record["exec"]][-1][1] += 1
        self.assertEqual([2], [len(one) for one in versions.values() if len(one) > 1])
        self.open(report_of(trace))
        self.assertEqual([versions[i] for i in sorted(versions)], self.browser.run("return app.trace.page.execs"))
        exec_id, (_, second) = next((i, one) for i, one in versions.items() if len(one) > 1)
        # From a node of its graph to the exec, and from there to the graph that it was updated to.
        node = self.browser.run("return app.trace.columns['node.graph'].indexOf(arguments[0] + 1)", versions[exec_id][0][0])
        self.browser.run("goTo({node: arguments[0]})", node)
        self.browser.run("[...document.querySelectorAll('#details-panel .go')].find((link) => link.textContent.includes('updated to')).click()")
        self.assertEqual(f"exec {exec_id}, version 2 of 2", self.browser.run("return document.querySelector('#details-panel h3').textContent"))
        self.assertIn(f"exec={exec_id}.1", self.browser.run("return location.hash"))
        marked = "return [...app.picked.nodes].map((id) => app.trace.columns['node.graph'][id] - 1)"
        self.assertEqual({second[0]}, set(self.browser.run(marked)))
        self.browser.command("POST", "/refresh", {})
        self.browser.wait_for(READY)
        self.assertEqual({second[0]}, set(self.browser.run(marked)), "the address selects it again")
        self.check_quiet()


class Ranks(Page):
    def setUp(self):
        self.folder, self.page = WORK / "ranks", WORK / "ranks.html"
        self.folder.mkdir(exist_ok=True)
        soft = TESTDATA / "traces" / "soft"
        for rank, name in enumerate(("fork_join", "record_stream", "fork_join")):
            (self.folder / f"rank{rank}.json").write_bytes((soft / f"{name}.json").read_bytes())
        graphkit("report", str(self.folder), "-o", str(self.page))
        self.ranks = json.loads(graphkit("analyze", str(self.folder), "--format", "json"))
        self.open(self.page)

    def shown(self, selector: str) -> list[str]:
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((found) => found.textContent)", selector)

    def check_drawn(self, rank: int) -> None:
        report = analyze(self.folder / f"rank{rank}.json")
        self.assertEqual(rank, self.browser.run("return ranks.drawn"))
        self.assertEqual(report, self.browser.run("return app.trace.analyze"))
        self.assertEqual(len(report["findings"]), len(self.shown("[data-finding]")))
        figures = self.browser.run(SHOWN_FIGURES)
        for name, text in expected_figures(report["graphs"][0]).items():
            self.assertEqual(text, figures.get(name))

    def test_many_traces_are_compared_and_the_worst_is_drawn(self):
        self.assertEqual(self.ranks, self.browser.run("return ranks.report"))
        self.assertEqual(1, self.ranks["worst"])
        self.check_drawn(1)
        asked = [trace["figures"]["asked_bytes"] for trace in self.ranks["traces"]]
        self.assertEqual([f"rank{i}.json" + size_text(asked[i]) for i in (1, 0, 2)], self.shown(".bar.rank"))
        self.assertEqual(len(self.ranks["groups"]) - 1, len(self.shown(".rank-group")))
        self.check_quiet()

    def test_of_equal_traces_none_is_the_worst(self):
        for rank in range(3):
            (self.folder / f"rank{rank}.json").write_bytes((TESTDATA / "traces" / "soft" / "fork_join.json").read_bytes())
        graphkit("report", str(self.folder), "-o", str(self.page))
        self.open(self.page)
        self.assertNotIn("worst", self.browser.run("return document.body.innerText"))
        self.assertNotIn("takes the most", self.browser.run("return document.getElementById('rank-text').textContent"))

    def test_any_of_them_can_be_drawn(self):
        self.assertEqual(["rank0.json", "rank1.json (worst)", "rank2.json"], self.shown("#trace option"))
        self.browser.run("showTab('ranks-panel')")
        self.browser.click(".bar.rank:last-child")
        self.browser.wait_for("ranks.drawn === 2")
        self.check_drawn(2)
        self.browser.run("document.getElementById('trace').value = '1'; document.getElementById('trace').dispatchEvent(new Event('change'))")
        self.browser.wait_for("ranks.drawn === 1")
        self.check_drawn(1)
        self.browser.run("location.hash = '#trace=0&node=2'")
        self.browser.wait_for("app.shown && app.shown.node === 2")
        self.check_drawn(0)
        self.check_quiet()


class Diff(Page):
    def test_the_page_of_a_diff_shows_what_changed(self):
        before, after = WORK / "before.json", WORK / "after.json"
        trace = TESTDATA / "traces" / "soft" / "fork_join.json"
        before.write_bytes(trace.read_bytes())
        after.write_text(trace.read_text().replace('"grid":[1024,1,1]', '"grid":[2048,1,1]'))
        page = WORK / "diff.html"
        graphkit("diff", str(before), str(after), "--format", "html", "-o", str(page), codes=(1,))
        diff = json.loads(graphkit("diff", str(before), str(after), "--format", "json", codes=(1,)))
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready")
        self.assertEqual("different", self.browser.run("return document.getElementById('verdict').textContent"))
        self.assertEqual(len({p["node"]["after"]["id"] for p in diff["graphs"][0]["parameters"]}),
                         self.browser.run("return document.querySelectorAll('.scroll .box.changed').length"))
        self.check_quiet()

    def test_no_arrow_runs_through_a_box_and_the_first_change_is_in_sight(self):
        before, after, page = WORK / "one.json", WORK / "two.json", WORK / "drawn.html"
        graphkit("synth", "--ops", "300", "--streams", "4", "-o", str(before))
        graphkit("synth", "--ops", "200", "--streams", "4", "-o", str(after))
        graphkit("diff", str(before), str(after), "--format", "html", "-o", str(page), codes=(1,))
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready")
        self.assertEqual("one.json → two.json", self.browser.run("return document.getElementById('program').textContent"))
        self.browser.wait_for("document.querySelector('.scroll').scrollLeft > 0")
        arrows, crossed, seen = self.browser.run("""
          const boxes = [...document.querySelectorAll(".scroll .box rect")].map((box) => box.getBBox()), arrows = [...document.querySelectorAll(".scroll .edge path:not(.head)")];
          const crossed = arrows.filter((arrow) => {
            const length = arrow.getTotalLength();
            for (let at = 0; at <= length; at += 2) {
              const {x, y} = arrow.getPointAtLength(at);
              if (boxes.some((box) => x > box.x + 1 && x < box.x + box.width - 1 && y > box.y + 1 && y < box.y + box.height - 1)) return true;
            }
            return false;
          });
          const change = document.querySelector(".scroll .box:not(.same)").getBoundingClientRect();
          return [arrows.length, crossed.length, change.left > 0 && change.right < innerWidth];""")
        self.assertGreater(arrows, 100)
        self.assertEqual((0, True), (crossed, seen))

    def test_the_page_of_two_snapshots_shows_their_memory(self):
        snapshots = [str(TESTDATA / "torch-snapshots" / f"transformer_{name}.pickle") for name in ("small", "inference")]
        page = WORK / "memory.html"
        graphkit("diff", *snapshots, "--format", "html", "-o", str(page), codes=(1,))
        memory = json.loads(graphkit("diff", *snapshots, "--format", "json", codes=(1,)))["memory"][0]
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready")
        self.assertEqual("Memory", self.browser.run("return document.querySelector('h2').textContent"))
        rows = self.browser.run(TABLE, "table")["rows"]
        grown = sorted((holder["change_bytes"] for holder in memory["holders"] if holder["change_bytes"] != 0), reverse=True)[:10]
        self.assertEqual([f"{'+' if change > 0 else '–'}{size_text(abs(change))}" for change in grown], [row[3] for row in rows])
        self.check_quiet()

    def test_the_memory_of_both_sides_is_drawn_aligned(self):
        snapshots = [TESTDATA / SNAPSHOTS / f"transformer_{name}.pickle" for name in ("step", "forward")]
        page, names = WORK / "sides.html", list(map(str, snapshots))
        graphkit("diff", *names, "--format", "html", "-o", str(page), codes=(1,))
        memory = json.loads(graphkit("diff", *names, "--format", "json", codes=(1,)))["memory"][0]
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready")
        changed = sorted((h for h in memory["holders"] if h["change_bytes"]), key=lambda h: -abs(h["change_bytes"]))[:9]
        peaks = [[h[side]["bytes"] if h[side] else 0 for h in changed] for side in ("before", "after")]
        # Each line has one colour on both sides, and there the bytes that the diff says it holds at the peak.
        colours = "return app.sides.map(({view, groups}) => Array.from(groups.sums.at(view.peakX)).slice(0, GROUP_COLORS))"
        self.assertEqual(peaks, self.browser.run(colours))
        self.assertEqual(next(f for f in memory["figures"] if f["figure"] == "peak_in_use_bytes")["after"], self.browser.run("return app.mostBytes"))
        for where, place in (("start", "recordedFrom(view)"), ("peak", "view.peakX"), ("end", "view.width")):
            self.browser.run("const choice = document.getElementById('aligned'); choice.value = arguments[0]; choice.dispatchEvent(new Event('change'));", where)
            places = self.browser.run(f"return app.sides.map((side) => {{ turnTo(side); const {{view}} = side; return xOf(plotOf(1000, 100, 18), {place}); }})")
            self.assertAlmostEqual(*places, places=6)
        self.browser.run("setSight(app.from, app.from + (app.to - app.from) / 2)")
        # A line that is clicked in the table is chosen on both sides, and in the legend.
        self.browser.run("[...document.querySelectorAll('#diff tr.link .go')].find((line) => line.textContent.includes('adapters.py:888')).click()")
        chosen = self.browser.run("return app.sides.map(({groups}) => groups.names[groups.chosen])")
        self.assertEqual(["app/adapters.py:888 zeros_like"] * 2, chosen)
        self.assertEqual(["app/adapters.py:888  zeros_like"],
                         self.browser.run("return every(\"#sides-legend [aria-pressed='true']\").map((entry) => entry.textContent)"))
        self.check_quiet()

    def test_equal_traces_are_said_to_be_equal(self):
        trace, page = str(TESTDATA / "traces" / "soft" / "fork_join.json"), WORK / "equal.html"
        graphkit("diff", trace, trace, "--format", "html", "-o", str(page))
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready")
        self.assertEqual("equal", self.browser.run("return document.getElementById('verdict').textContent"))


HOSTILE = ['</script><script>document.title = "broken"</script>', '<img src=x onerror="document.title=1">', "\"'`${1}\\",
           "line\nbreak\ttab\x1b[31m", "a" * 10_000 + "<" * 40, "&lt;b&gt;{{data}}{{script}}", "\u202e\u2028end", "\x00\ufeff\ufffe"]


class Names(Page):
    def test_names_from_a_trace_are_text(self):
        records = [{"type": "process", "pid": 1, "program": HOSTILE[0]}, {"type": "thread", "id": 0, "tid": 1, "name": HOSTILE[1]},
                   {"type": "stream", "id": 0, "handle": "0x1", "name": HOSTILE[2]},
                   {"type": "graph", "id": 0, "origin": "explicit", "name": HOSTILE[1]}]
        for i, name in enumerate(HOSTILE):
            records.append({"type": "kernel", "id": i, "name": name})
            records.append({"type": "node", "id": i, "graph": 0, "stream": 0, "kind": "kernel", "kernel": i})
        lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
        trace = WORK / "hostile.json"
        trace.write_bytes(b'{"schema":"graphkit-trace","version":1,"device":"soft","records":[\n' + b",\n".join(lines) +
                          b",\n" + json.dumps({"type": "end", "records": len(lines)}).encode() + b"]}\n")
        self.open(report_of(trace))
        self.assertEqual(8, self.browser.run("return app.view.nodes.length"))
        self.assertEqual(0, self.browser.run("return document.images.length"))
        self.assertEqual(["data", ""], self.browser.run("return [...document.scripts].map(script => script.id)"))
        self.assertEqual(HOSTILE[0] + " \u2013 graphkit report", self.browser.run("return document.title"))
        self.browser.run("goTo({node: 0})")
        self.assertIn(HOSTILE[0], self.browser.run("return document.getElementById('details-panel').textContent"))
        self.browser.run("for (let id = 0; id < 8; ++id) { goTo({node: id}); showTip({node: id}, 10, 10); app.draw(); }")
        self.check_quiet()


PAN = """
const done = arguments[0], gaps = [];
let last = null, frames = 0;
app.fit();
app.zoomTime(.3);
app.frames.length = 0;
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
function step(now) {
  if (last !== null) gaps.push(now - last);
  last = now;
  app.panTime(frames % 60 < 30 ? .01 : -.01);
  if (++frames < 120) return requestAnimationFrame(step);
  const drawn = app.frames.slice();
  done({frame: median(gaps), slowest: gaps.at(-1), drawing: median(drawn), drawing_slowest: drawn.at(-1)});
}
requestAnimationFrame(step);
"""


class Large(Page):
    def test_a_hundred_thousand_nodes(self):
        trace, nodes = WORK / "large.json", int(os.environ.get("GRAPHKIT_LARGE_NODES", "100000"))
        graphkit("synth", "--shape", "training", "--ops", str(nodes), "--streams", "8", "-o", str(trace))
        page = report_of(trace)
        self.assertLess(page.stat().st_size, MOST_BYTES)
        self.open(page)
        self.assertEqual(nodes, self.browser.run("return app.view.nodes.length"))
        first = self.browser.run("return app.loadedAt")
        panned = self.browser.run_async(PAN)
        drawn = self.browser.run("return app.parts[1].drawn")
        self.assertGreater(drawn["rectangles"] + drawn["covered"], 10_000)
        self.assertLess(drawn["rectangles"], 10_000)
        print(f"{nodes:,} nodes: {page.stat().st_size} bytes, first view after {first:.0f} ms, while panning a frame takes "
              f"{panned['frame']:.1f} ms (slowest {panned['slowest']:.1f}), of which drawing {panned['drawing']:.1f} ms "
              f"(slowest {panned['drawing_slowest']:.1f})", file=sys.stderr)
        self.check_quiet()

    def test_a_snapshot_of_a_million_and_a_half_events(self):
        snapshot = WORK / "large.pickle"
        snapshot.write_bytes(pickle.dumps(busy_snapshot(1_500_000)))
        page = report_of(snapshot)
        self.open(page)
        first = self.browser.run("return app.loadedAt")
        self.assertGreater(self.browser.run("return app.view.events.length"), 1_499_000)
        panned = self.browser.run_async(PAN)
        self.assertGreater(self.browser.run("return app.parts[1].drawn.covered"), 100_000)
        self.browser.wait_for("!app.moving")
        self.assertEqual(self.browser.run("return app.t0"), self.browser.run("app.draw(); return app.parts[1].made.t0"))
        print(f"1 500 000 events: {page.stat().st_size} bytes, first view after {first:.0f} ms, while panning a frame takes "
              f"{panned['frame']:.1f} ms (slowest {panned['slowest']:.1f}), of which drawing {panned['drawing']:.1f} ms "
              f"(slowest {panned['drawing_slowest']:.1f})", file=sys.stderr)
        self.check_quiet()


def busy_snapshot(count: int) -> dict:
    """A snapshot whose blocks come and go in 4096 places, of 40 lines."""
    base, size, stacks = 0x7F00_0000_0000, 2 << 20, [[{"filename": f"/app/model/layer{k % 8}.py", "line": 10 + k, "name": f"forward_{k}"},
                                                     {"filename": "/app/train.py", "line": 65, "name": "<module>"}] for k in range(40)]
    chance, live = random.Random(1), {}
    events = [{"action": "segment_alloc", "addr": base, "size": 4096 * size, "stream": 0, "frames": stacks[0]}]
    while len(events) < count - 1:
        place = chance.randrange(4096)
        if place in live:
            freed = {"addr": base + place * size, "size": live.pop(place)[0], "stream": 0, "frames": []}
            events += [{"action": "free_requested", **freed}, {"action": "free_completed", **freed}]
        else:
            live[place] = (chance.choice([512, 65536, 1 << 20, size]), stacks[chance.randrange(40)])
            events.append({"action": "alloc", "addr": base + place * size, "size": live[place][0], "stream": 0, "frames": live[place][1]})
    blocks = []
    for place in range(4096):
        taken, frames = live.get(place, (0, []))
        if taken:
            blocks.append({"address": base + place * size, "size": taken, "requested_size": taken, "state": "active_allocated", "frames": frames})
        if taken < size:
            blocks.append({"address": base + place * size + taken, "size": size - taken, "requested_size": 0, "state": "inactive", "frames": []})
    used = sum(taken for taken, _ in live.values())
    segment = {"address": base, "total_size": 4096 * size, "stream": 0, "segment_type": "large", "allocated_size": used, "active_size": used,
               "requested_size": used, "device": 0, "is_expandable": False, "segment_pool_id": (0, 0), "frames": stacks[0], "blocks": blocks}
    return {"segments": [segment], "device_traces": [events], "allocator_settings": {}, "external_annotations": []}


if __name__ == "__main__":
    if not available():
        print("skipped: chromium and chromedriver are not installed")
        sys.exit(SKIPPED)
    GRAPHKIT, TESTDATA = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        WORK = pathlib.Path(folder)
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
