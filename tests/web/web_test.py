"""The page that shows any file (tools/web.sh) in a real browser: its answers are the command's, and nothing leaves the machine.

Usage: web_test.py GRAPHKIT TESTDATA PAGE    Exits with 77 where the page, Chromium or its driver isn't there.
"""

import http.server
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "render" / "report"))

from browser import Browser, available  # noqa: E402

GRAPHKIT, TESTDATA, PAGE, WORK = "", pathlib.Path(), pathlib.Path(), pathlib.Path()
SKIPPED = 77
MOST_BYTES = 3_000_000  # of the page, compressed
LEFT_OUT = {"clients", "schemas", "workloads"}  # folders without inputs of graphkit
PROGRESS = re.compile("^graphkit: [a-z]+ing .* …\n", re.MULTILINE)
READ_PAGE = "const done = arguments[0]; shown.page ? shown.page.text().then(done) : done(null);"


def inputs() -> list[pathlib.Path]:
    return [path for path in sorted(TESTDATA.rglob("*")) if path.is_file() and path.suffix not in (".md", ".py", ".cmake", ".txt") and
            path.name != "LICENSE" and path.relative_to(TESTDATA).parts[0] not in LEFT_OUT]


def command(folder: pathlib.Path, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr, without the progress that slow commands print."""
    done = subprocess.run([GRAPHKIT, *words], cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
    return done.returncode, done.stdout.decode(errors="replace"), PROGRESS.sub("", done.stderr.decode(errors="replace"))


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.browser.open(PAGE)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def drop(self, *files: pathlib.Path, seconds: float = 300) -> dict:
        """What the page shows of files that are chosen."""
        self.browser.run("startAgain()")
        self.browser.choose("#file", *files)
        self.browser.wait_for("document.body.dataset.ready", seconds)
        return self.browser.run("""return {code: Number(document.body.dataset.code), summary: byId("summary").textContent,
          problem: byId("problem").hidden ? "" : byId("problem").textContent, report: !byId("to-report").disabled,
          why: byId("to-report").title, view: ["drop", "summary", "report"].find((id) => !byId(id).hidden)};""")

    def page(self) -> str | None:
        return self.browser.run_async(READ_PAGE)

    def check_equal(self, file: pathlib.Path) -> None:
        shown, (code, out, error) = self.drop(file), command(file.parent, file.name)
        self.assertEqual((code, error.strip()), (shown["code"], shown["problem"]))
        if code == 2:
            self.assertEqual("drop", shown["view"])
            return
        self.assertEqual(out, shown["summary"])
        drawn = WORK / "drawn.html"
        drawn.unlink(missing_ok=True)
        code, _, error = command(file.parent, "report", file.name, "-o", str(drawn))
        self.assertEqual(code != 2, shown["report"])
        if code == 2:
            self.assertEqual((error.strip(), None), (shown["why"], self.page()))
        else:
            self.assertEqual(drawn.read_text(), self.page())

    def test_the_answers_are_the_command_s(self):
        files = inputs()
        for file in files[:: int(os.environ.get("GRAPHKIT_WEB_EVERY", "1"))]:
            with self.subTest(file=str(file.relative_to(TESTDATA))):
                self.check_equal(file)

    def test_two_files_are_compared(self):
        files = [TESTDATA / "torch-snapshots" / f"transformer_{name}.pickle" for name in ("small", "inference")]
        names, drawn = [file.name for file in files], WORK / "diff.html"
        shown = self.drop(*files)
        code, out, _ = command(files[0].parent, "diff", *names)
        self.assertEqual((code, out), (shown["code"], shown["summary"]))
        command(files[0].parent, "diff", *names, "--format", "html", "-o", str(drawn))
        self.assertEqual(drawn.read_text(), self.page())

    def test_a_bad_file_is_one_line(self):
        bad = WORK / "notes.txt"
        bad.write_text("remember the milk\n")
        shown = self.drop(bad)
        self.assertEqual(("drop", 2), (shown["view"], shown["code"]))
        self.assertRegex(shown["problem"], r"^graphkit: notes\.txt: [^\n]*$")
        self.assertEqual("report", self.drop(TESTDATA / "traces" / "soft" / "fork_join.json")["view"], "and the page goes on")

    def test_the_report_is_shown_and_the_summary_is_a_click_away(self):
        self.drop(TESTDATA / "torch-snapshots" / "transformer_small.pickle")
        self.browser.enter("#report")
        self.browser.wait_for("typeof app !== 'undefined' && app.loadedIn")
        self.assertIn("13.0 GiB", self.browser.run("return document.body.innerText"))
        self.browser.run("goTo({block: 5}); remember();")
        self.browser.wait_for("location.hash === '#block=5'")
        self.browser.enter()
        self.browser.wait_for("location.hash === '#block=5'")
        self.browser.run("location.hash = '#block=6'")
        self.browser.enter("#report")
        self.browser.wait_for("app.selection.block === 6")
        self.browser.enter()
        self.browser.run("location.hash = '#block=5'")
        self.drop(TESTDATA / "torch-snapshots" / "transformer_small.pickle")
        self.browser.enter("#report")
        self.browser.wait_for("typeof app !== 'undefined' && app.loadedIn")
        self.assertEqual({"block": 5}, self.browser.run("return app.selection"), "an address chooses in the report")
        self.browser.enter()
        self.browser.run("history.replaceState(null, '', location.href.split('#')[0])")
        self.browser.click("#to-summary")
        self.assertEqual([False, True], self.browser.run("return [byId('summary').hidden, byId('report').hidden]"))
        self.assertEqual("transformer_small.html", self.browser.run("return byId('save').download"))
        self.browser.click("#again")
        self.assertEqual("drop", self.browser.run("return ['drop', 'summary', 'report'].find((id) => !byId(id).hidden)"))
        self.assertEqual([], [entry for entry in self.browser.log() if entry["level"] == "SEVERE"])

    def test_a_file_can_be_dropped(self):
        text = (TESTDATA / "traces" / "soft" / "fork_join.json").read_text()
        self.browser.run("""startAgain();
          const data = new DataTransfer();
          data.items.add(new File([arguments[0]], "dropped.json"));
          dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));""", text)
        self.browser.wait_for("document.body.dataset.ready")
        self.assertIn("dropped.json", self.browser.run("return byId('summary').textContent"))

    def test_nothing_leaves_the_machine(self):
        asked = []

        class Listener(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self.drop(TESTDATA / "traces" / "soft" / "fork_join.json")
            refused = self.browser.run_async("""
              const [address, done] = arguments, refused = [];
              addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
              const image = new Image();
              image.src = address + "image";
              navigator.sendBeacon(address + "beacon", "x");
              const script = document.createElement("script");
              script.src = address + "script";
              document.head.append(script);
              const worker = new Worker(URL.createObjectURL(new Blob([`fetch("${address}worker").then(() => postMessage("sent"), () => postMessage("refused"))`])));
              worker.onmessage = ({data}) => {
                refused.push("worker " + data);
                fetch(address + "fetch").catch(() => { new XMLHttpRequest().open("GET", address); });
                const socket = new WebSocket(address.replace("http", "ws"));
                socket.onerror = () => setTimeout(() => done(refused), 300);
              };""", f"http://127.0.0.1:{server.server_port}/")
            frame = self.browser.command("POST", "/element", {"using": "css selector", "value": "#report"})
            self.browser.enter("#report")
            framed = self.browser.run_async("fetch(arguments[0]).then(() => arguments[1]('sent'), () => arguments[1]('refused'))",
                                            f"http://127.0.0.1:{server.server_port}/frame")
            self.browser.enter()
        finally:
            server.shutdown()
        self.assertEqual(([], "refused"), (asked, framed))
        self.assertIn("worker refused", refused)
        self.assertLessEqual({"connect-src", "img-src", "script-src-elem"}, set(refused))
        self.browser.log()

    def test_the_page_is_small(self):
        packed = subprocess.run(["gzip", "-9c", str(PAGE)], capture_output=True, check=True).stdout
        print(f"the page: {PAGE.stat().st_size} bytes, compressed {len(packed)}", file=sys.stderr)
        self.assertLess(len(packed), MOST_BYTES)

    def test_several_files_are_ranks(self):
        files = [TESTDATA / "traces" / "soft" / f"{name}.json" for name in ("fork_join", "record_stream", "leaky")]
        shown = self.drop(*files)
        code, out, _ = command(files[0].parent, "analyze", *(file.name for file in files))
        self.assertEqual((code, out, True), (shown["code"], shown["summary"], shown["report"]))

    def test_a_snapshot_of_100_mb(self):
        file = WORK / "large.pickle"
        subprocess.run([sys.executable, str(ROOT / "tests" / "bench" / "make_snapshot.py"), "--events", "1250000", str(file)], check=True)
        self.browser.run("""startAgain();
          shown.times = [];
          shown.observer = new MutationObserver(() => { if (!byId("views").hidden) shown.times[0] ??= performance.now() - shown.since; });
          shown.observer.observe(byId("views"), {attributes: true});""")
        self.drop(file)
        summary, whole = self.browser.run("shown.observer.disconnect(); return [shown.times[0], performance.now() - shown.since]")
        print(f"{file.stat().st_size / 1e6:.0f} MB: summary after {summary / 1e3:.1f} s, report after {whole / 1e3:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    if not available() or not pathlib.Path(sys.argv[3]).exists():
        print("skipped: chromium and chromedriver are not installed, or tools/web.sh has not made the page")
        sys.exit(SKIPPED)
    GRAPHKIT, TESTDATA, PAGE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        WORK = pathlib.Path(folder)
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
