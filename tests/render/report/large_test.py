"""The HTML report in a real browser: names are data, and large files open and pan."""

import json
import os
import pickle
import random
import sys

from report_page import WORK, Page, main, report_of, synth

MOST_BYTES = 20_000_000  # of the report of 100 000 nodes
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
        synth("--shape", "training", "--ops", str(nodes), "--streams", "8", "-o", str(trace))
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
    main()
