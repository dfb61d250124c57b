"""The HTML report in a real browser: who holds the memory, and what was found."""

import json
import pathlib
import pickle
import re

from report_page import LAYER, READY, SNAPSHOTS, TESTDATA, WORK, Page, analyze, graphkit, main, report_of, rows_of, traces

# The peak, its moment in order, and who holds it.
AT_PEAK = """
const {view, groups} = app;
return [view.peakBytes, app.at === view.peakX, view.orderOf(view.peakX), groups.heldAt(view.peakX).map(({group, bytes}) => [groups.keys[group], bytes])];
"""
SHOWN_HOLDERS = """
return [...document.querySelectorAll("#holders tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
"""
CHOSEN = """
const {groups} = app, entry = document.querySelector("#group-legend [aria-pressed=true]"), row = document.querySelector("#holders .picked");
return {name: groups.chosen < 0 ? null : groups.names[groups.chosen], legend: entry && entry.textContent, table: row && row.cells[0].textContent,
  at: app.at, hash: decodeURIComponent(location.hash)};
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

    def test_gaps_of_segments_are_what_no_block_has(self):
        found = self.browser.run("""
          const {view} = app, wrong = [], shown = [];
          for (let k = 0; k <= 20; ++k) {
            const x = Math.floor((view.width - 1) * k / 20), live = [...view.size.keys()].filter((i) => view.begin[i] <= x && x < view.end[i]);
            let reserved = 0, used = 0;
            for (const [offset, size, begin, end] of segmentsOf(view)) {
              if (x < begin || x >= end) continue;
              reserved += size;
              for (const i of live) if (offset <= view.offset[i] && view.offset[i] < offset + size) used += view.size[i];
            }
            if (unusedAt(view, x).bytes !== reserved - used) wrong.push(x);
          }
          showMoment(view.peakX);
          return [wrong, document.querySelector("#holders .unused")?.textContent ?? "", unusedAt(view, view.peakX).gaps];""")
        self.assertEqual([], found[0])
        self.assertIn(f" in {found[2]:,}, the largest ", found[1])

    def test_blocks_of_graphs_have_the_classes_of_their_content(self):
        file = TESTDATA / "torch-traces" / "decode_content.json.zst"
        self.open(report_of(file))
        found = self.browser.run("""
          const {columns, texts} = app.trace, bytes = {};
          for (const id of app.trace.views.find(({root}) => root !== null).blocks) {
            const name = texts.contents[columns["block.content"][id]];
            bytes[name] = (bytes[name] || 0) + Math.ceil(columns["block.size"][id] / 512) * 512;
          }
          groupBlocks("content");
          return [bytes, [...new Set(app.groups.keys)].sort()];""")
        (graph,) = json.loads(graphkit("analyze", str(file), "--by", "content", "--format", "json"))["graphs"]
        lines = graph["memory_by"]["lines"]
        self.assertEqual({line["name"]: line["bytes"] for line in lines}, found[0])
        self.assertLessEqual({line["name"] for line in lines}, set(found[1]))

    def test_segments_have_all_their_addresses(self):
        with self.file.open("rb") as snapshot:
            segments = sorted(segment["total_size"] for segment in pickle.load(snapshot)["segments"])
        self.assertEqual(segments, sorted(self.browser.run("return segmentsOf(app.view).map(([, size]) => size)")))

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
        whole = self.browser.run("return icicle.root.weight")
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
            const below = [...node.children.values()].reduce((sum, child) => sum + child.weight, 0);
            if (node.children.size > 0 && below > node.weight) wrong.push(node.name);
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

    def test_all_are_listed_in_the_order_of_the_commands(self):
        for file in [*traces(), *sorted((TESTDATA / SNAPSHOTS).glob("*.pickle"))]:
            with self.subTest(file=file.name):
                self.open(report_of(file))
                if self.browser.run("return document.getElementById('main').hidden"):
                    continue
                hints = sum(len(device["worth_a_look"]) for device in explain(file)["devices"])
                cards = self.cards()
                self.assertEqual([row[0] for row in rows_of(analyze(file))], [card[1] for card in cards if card[0] == "finding"])
                self.assertEqual(hints, sum(card[0] == "hint" for card in cards))
                order = [(card[0] == "hint") if card[:3:2] != ["hint", "error"] else -1 for card in cards]
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
                           ("model.py", "module that allocates"), ("softmax-blocks", "24 softmax outputs of 96 MiB")]:
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


if __name__ == "__main__":
    main()
