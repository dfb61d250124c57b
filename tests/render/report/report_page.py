"""What the tests of the HTML report in a real browser share: the command line, the page, scripts that read it.

Usage of each: NAME_test.py GRAPHKIT TESTDATA [TEST...]    Exits with 77 where Chromium or its driver isn't installed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, available

SKIPPED = 77
GRAPHKIT, TESTDATA = sys.argv[1], pathlib.Path(sys.argv[2])
FOLDER = tempfile.TemporaryDirectory()  # removed at the end
WORK = pathlib.Path(FOLDER.name)
SNAPSHOTS = "torch-snapshots"
READY = "app.loadedIn || !document.getElementById('empty').hidden"


def graphkit(*arguments: str, codes: tuple[int, ...] = (0, 3)) -> str:
    done = subprocess.run([GRAPHKIT, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"graphkit {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def synth(*options: str) -> None:
    subprocess.run([pathlib.Path(GRAPHKIT).with_name("graphkit-synth"), *options], check=True)


def report_of(trace: pathlib.Path, *options: str) -> pathlib.Path:
    page = WORK / (trace.stem + ".html")
    graphkit("report", str(trace), "-o", str(page), *options)
    return page


def analyze(trace: pathlib.Path) -> dict:
    return json.loads(graphkit("analyze", str(trace), "--format", "json"))


def rows_of(report: dict) -> list[list[int]]:
    """The rows of findings, as all views show them."""
    return [row for group in report["finding_groups"] for row in group]


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

# The contents of a table: the heads that sort it, its cells.
TABLE = """
const table = document.querySelector(arguments[0]);
return {sorted: [...table.querySelectorAll("th")].map((head) => head.getAttribute("aria-sort")),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))};
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


def main() -> None:
    if not available():
        print("skipped: chromium and chromedriver are not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
