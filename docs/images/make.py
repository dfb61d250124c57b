#!/usr/bin/env python3
"""Makes the pictures of graphkit's pages, with headless Chromium, from files in testdata.

    docs/images/make.py --graphkit build/bin/graphkit [NAME...]
    docs/images/make.py --check      exits 1 when a page has changed since its pictures were made

`notebook` needs the Python package in build/python/site, where tools/test.sh installs it.
made.json lists each picture with a hash of the sources of what it shows.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path(__file__).resolve().parent
SOURCE = IMAGES.parents[1]
TESTDATA = SOURCE / "testdata"
PAGE = "libgraphkit/render/report/page"
SNAPSHOT = "torch-snapshots/transformer_step.pickle"
STEP = "torch-traces/gpt.json.zst"
# What Jupyter would show of docs/python.md's values, one below the other.
NOTEBOOK = """
import sys
import cudagraphkit
small, inference, leaky = sys.argv[1:]
cells = (cudagraphkit.explain(small), cudagraphkit.diff(small, inference), cudagraphkit.check(leaky, {"max_leaks": 0}),
         cudagraphkit.show(small))
print("<!doctype html><meta charset='utf-8'><style>body { font: 14px sans-serif; margin: 20px } td, th { text-align: right }"
      "td:first-child, th:first-child { text-align: left }</style>", *(cell._repr_html_() for cell in cells), sep="\\n")
"""


@dataclasses.dataclass(frozen=True)
class Picture:
    name: str
    command: tuple[str, ...]  # of graphkit; files are in testdata
    width: int
    height: int
    dark: bool = False
    shows: tuple[str, ...] = (PAGE,)  # folders and files whose change makes it old


PICTURES = [
    Picture("step_report", ("report", STEP), 1440, 900),
    Picture("report", ("report", "traces/soft/record_stream.json"), 1400, 1100),
    Picture("report-snapshot", ("report", SNAPSHOT), 1400, 1100),
    Picture("report-dark", ("report", SNAPSHOT), 1400, 900, dark=True),
    Picture("report-phone", ("report", SNAPSHOT), 420, 900),
    Picture("attribute", ("attribute", *(f"kineto/vllm_pieces_{part}.json.gz" for part in ("capture", "replay")), "--format", "html"), 1280, 620),
    Picture("diff", ("diff", "torch-snapshots/transformer_forward.pickle", SNAPSHOT, "--format", "html"), 1280, 900),
    Picture("notebook", (), 1180, 1560, shows=("plugins/python/cudagraphkit/_answers.py",)),
]


def page_hash(picture: Picture) -> str:
    whole = hashlib.sha256()
    for source in picture.shows:
        path = SOURCE / source
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.is_file():
                whole.update(file.name.encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()


def write_page(graphkit: pathlib.Path, picture: Picture, page: pathlib.Path) -> None:
    if picture.name == "notebook":
        files = ("torch-snapshots/transformer_small.pickle", "torch-snapshots/transformer_inference.pickle", "traces/soft/leaky.json")
        done = subprocess.run([sys.executable, "-c", NOTEBOOK, *(TESTDATA / name for name in files)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "build/python/site")}, check=False)
        page.write_text(done.stdout, encoding="utf-8")
    else:
        words = [word if "." not in word else str(TESTDATA / word) for word in picture.command]
        done = subprocess.run([graphkit, *words, "-o", page], capture_output=True, text=True, check=False)
    if not page.exists() or not page.stat().st_size:
        raise SystemExit(f"{picture.name}: {done.stderr}")


def make(graphkit: pathlib.Path, picture: Picture) -> None:
    sys.path.insert(0, str(SOURCE / "tests/render/report"))
    from browser import Browser

    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        write_page(graphkit, picture, page)
        with Browser(picture.width, picture.height, picture.dark) as browser:
            browser.devtools("Emulation.setDeviceMetricsOverride", width=picture.width, height=picture.height,
                             deviceScaleFactor=1, mobile=False)
            browser.open(page)
            if picture.name == "notebook":
                browser.enter("iframe")
            browser.wait_for("document.body.dataset.ready || (typeof app !== 'undefined' && app.loadedIn)")
            browser.enter()
            browser.screenshot(IMAGES / f"{picture.name}.png")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--graphkit", type=pathlib.Path, default=SOURCE / "build/bin/graphkit")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_intermixed_args()
    made_file = IMAGES / "made.json"
    made = json.loads(made_file.read_text()) if made_file.exists() else {}
    if options.check:
        old = [picture.name for picture in PICTURES if made.get(picture.name) != page_hash(picture)]
        if old:
            print(f"the report's page has changed since these pictures were made: {', '.join(old)}; run docs/images/make.py")
        return 1 if old else 0
    for picture in PICTURES:
        if not options.names or picture.name in options.names:
            make(options.graphkit.resolve(), picture)
            made[picture.name] = page_hash(picture)
    made_file.write_text(json.dumps(made, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
