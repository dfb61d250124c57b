"""The HTML report in a real browser: it loads, shows the numbers of `analyze`, zooms, highlights, and sorts its tables."""

import collections
import json
import pathlib
import re

from report_page import LAYER, SHOWN_FIGURES, TABLE, TESTDATA, WORK, Page, analyze, expected_figures, graphkit, main, report_of, rows_of, traces

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


def bills_of(trace: pathlib.Path, by: str) -> dict:
    """The lines of each graph's memory bill."""
    report = json.loads(graphkit("analyze", str(trace), "--format", "json", "--by", by))
    return {graph["id"]: graph["memory_by"]["lines"] for graph in report["graphs"] if "memory_by" in graph}


def shown_findings(trace: pathlib.Path) -> list[tuple[int, dict]]:
    """The first finding of each row, with its place."""
    report = analyze(trace)
    return [(row[0], report["findings"][row[0]]) for row in rows_of(report)]


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
                self.assertEqual([row[0] for row in rows_of(report)], self.browser.run("return [...document.querySelectorAll('[data-finding]')].map((card) => Number(card.dataset.finding))"))
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
            for index, finding in shown_findings(trace):
                self.browser.run(f"document.querySelector('[data-finding=\"{index}\"] .mono').click()")
                page = (TESTDATA.parent / "docs" / "checks" / f"{finding['check']}.md").read_text()
                page = re.sub(r"^```\w*$", "", page, flags=re.M)
                shown = self.browser.run("const text = document.querySelector('dialog[open]').innerText; document.querySelector('dialog').close(); return text")
                self.assertEqual(sorted(re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "", page))), sorted(re.findall(r"\w+", shown)[:-1]), finding["check"])
        self.check_quiet()

    def test_what_is_found_can_be_shown_and_nothing_else_is_offered(self):
        for trace in traces():
            self.open(report_of(trace))
            for index, finding in shown_findings(trace):
                named = [bool(e["nodes"] + e["blocks"] + e["edges"]) for e in finding["evidence"]]
                offered = self.browser.run(f"return [...document.querySelectorAll('[data-finding=\"{index}\"] .evidence')].map((item) => Boolean(item.querySelector('button')))")
                self.assertEqual(named, offered)
                leads = any(named) or bool(finding["nodes"] + finding["blocks"]) or finding["graph"] is not None
                card = f"document.querySelector('[data-finding=\"{index}\"]')"
                self.assertEqual(leads, self.browser.run(f"return {card}.querySelector('.message').matches('button')"))
                if leads:
                    self.assertTrue(self.browser.run(f"{card}.click(); return Boolean(app.picked) || app.view.root === {json.dumps(finding['graph'])}"))

    def test_a_race_has_the_order_that_it_lacks_dashed(self):
        trace = TESTDATA / "traces" / "soft" / "programmatic.json"
        self.open(report_of(trace))
        drawn = "app.draw(); return app.parts.find((part) => part.missing !== undefined).missing"
        self.assertIsNone(self.browser.run(drawn))
        races = [(index, finding) for index, finding in shown_findings(trace) if finding["check"] == "programmatic-only-order"]
        self.assertTrue(races)
        for index, finding in races:
            self.browser.run(f"pickFinding({index})")
            self.assertEqual(finding["nodes"][:2], self.browser.run(drawn))
        self.check_quiet()

    def test_beside_a_selected_finding_nothing_says_to_click_one(self):
        self.open(report_of(TESTDATA / "traces" / "soft" / "leaky.json"))
        hint = "showTab('details-panel'); return document.getElementById('details-panel').textContent"
        self.assertIn("or a finding", self.browser.run(hint))
        self.browser.run("pickFinding(0); return null")
        self.assertNotIn("finding", self.browser.run(hint))

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


if __name__ == "__main__":
    main()
