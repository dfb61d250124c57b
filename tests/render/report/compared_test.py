"""Pages in a real browser that compare: ranks, two traces, and captures with replays."""

import json

from report_page import SHOWN_FIGURES, SNAPSHOTS, TABLE, TESTDATA, WORK, Page, analyze, expected_figures, graphkit, main, rows_of, size_text, synth


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
        self.assertEqual(len(rows_of(report)), len(self.shown("[data-finding]")))
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


class Attribution(Page):
    def test_time_by_call_stack_leads_to_the_nodes_and_back(self):
        pair = [str(TESTDATA / "kineto" / f"sglang_decode_{part}.json.gz") for part in ("capture", "replay")]
        page = WORK / "times.html"
        graphkit("attribute", *pair, "-o", str(page))
        total = json.loads(graphkit("attribute", *pair, "--format", "json"))["total"]
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready")
        self.assertEqual([total["ns"], total["count"]], self.browser.run("return [icicle.root.weight, icicle.root.count]"))
        wrong = self.browser.run("""
          const wrong = [], visit = (node) => {
            const below = [...node.children.values()].reduce((sum, child) => sum + child.weight, 0);
            if (node.children.size > 0 && below !== node.weight) wrong.push(node.name);
            for (const child of node.children.values()) visit(child);
          };
          visit(icicle.root);
          return wrong;""")
        self.assertEqual([], wrong)
        # Layers are one frame until they are shown apart. The nodes of a frame are its kernels; a click on one picks its frame.
        layers = "drawIcicle(byId('icicle')); return new Set(icicle.boxes.map(({node}) => node.name).filter((name) => name.startsWith('Qwen3DecoderLayer'))).size"
        self.assertEqual(1, self.browser.run(layers))
        self.browser.click("#layers-apart")
        self.assertEqual(36, self.browser.run(layers))
        layer, nodes, shown = self.browser.run("""
          drawIcicle(document.getElementById("icicle"));
          const {node} = icicle.boxes.find(({node}) => node.name.includes("DecoderLayer_7"));
          pickFrame(node);
          return [document.getElementById("nodes-title").textContent, node.count, document.querySelectorAll("#nodes tbody tr").length];""")
        self.assertEqual(("Nodes of Qwen3DecoderLayer_7", nodes), (layer, shown))
        kernel = self.browser.run("return document.querySelector('#nodes tbody tr').cells[1].textContent")
        self.browser.click("#nodes tbody tr")
        self.assertEqual([kernel, 0], self.browser.run("return [icicle.picked.name, icicle.picked.children.size]"))
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
        synth("--ops", "300", "--streams", "4", "-o", str(before))
        synth("--ops", "200", "--streams", "4", "-o", str(after))
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


if __name__ == "__main__":
    main()
