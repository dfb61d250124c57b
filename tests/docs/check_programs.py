"""The examples of docs/checks: in each page the first block of C++ or Python has the fault, and the second doesn't.

    check_programs.py write PAGES OUT.cu        one program of all in C++, for nvcc; lines keep their page and number
    check_programs.py test PAGES (--graphkit G | --build BUILD) (--program P | --python PYTHON) [--update] [NAME...]
        traces each: the wrong one has a finding of its page's check, one of whose places is the line with "# here" or
        "// here", and the page shows what analyze prints of it; the right one has no finding of that check, and no other above
        a note. With --program those in C++, with --python those in Python, which need PyTorch.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(cpp|py)\n(.*?)^```$", re.M | re.S)
SHOWN = re.compile(r"(?:    .*\n|\n)+")
MARK = re.compile(r"(//|#) here")
HERE = pathlib.Path(__file__).resolve().parent
# Pages whose fault the software device can't show, with the reason.
NOT_FOUND_HERE = {"slow-capture": "the software device's times are a model's, and the check leaves them out"}
# Pages whose finding has no line, with the reason.
WITHOUT_LINE = {"event-stream-leak": "the tracer records no stacks of streams and events"}


class Failed(Exception):
    pass


class Page:
    def __init__(self, path: pathlib.Path):
        self.path, self.name, self.text = path, path.stem, path.read_text(encoding="utf-8")
        self.blocks = list(BLOCK.finditer(self.text))[:2]
        self.language = self.blocks[0].group(1) if self.blocks else None
        before = self.text[: self.blocks[0].start()] if self.blocks else ""
        self.options = re.findall(r"graphkit trace (--scope all)", before)
        self.variables = dict(re.findall(r"with `([A-Z_]+)=([^`]+)`", before))
        self.ranks = "two ranks" in before

    def line(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    def marked(self) -> str:
        wrong = self.blocks[0]
        return f"{self.path.name}:{self.line(wrong.start(2) + MARK.search(wrong.group(2)).start())}"

    def functions(self) -> str:
        made = f"namespace {self.name.replace('-', '_')} {{\n"
        for name, block in zip(("wrong", "right"), self.blocks):
            made += f'void {name}() {{\n#line {self.line(block.start(2))} "{self.path.name}"\n{block.group(2)}}}\n'
        return made + "}\n"


def pages(folder: pathlib.Path, language: str) -> list[Page]:
    found = [Page(path) for path in sorted(folder.glob("*.md")) if path.name != "index.md"]
    return [page for page in found if page.language == language]


def write(folder: pathlib.Path, out: pathlib.Path) -> None:
    found = pages(folder, "cpp")
    rows = ""
    for page in found:
        of = page.name.replace("-", "_")
        rows += f'  if (check == "{page.name}") (wrong ? {of}::wrong : {of}::right)();\n'
    out.write_text('#include <string>\n#include "tests/docs/check_examples/names.cuh"\n' + "".join(p.functions() for p in found) +
                   '#line 1 "main"\nint main(int, char** argv) {\n  const std::string check = argv[1];\n'
                   f'  const bool wrong = argv[2] == std::string("wrong");\n  MakeNames();\n{rows}  DestroyNames();\n}}\n',
                   encoding="utf-8")


class Runner:
    def __init__(self, options: argparse.Namespace, folder: pathlib.Path):
        self.graphkit, self.options, self.folder = str(options.graphkit.resolve()), options, folder

    def command(self, page: Page, which: str) -> list[str]:
        if page.language == "cpp":
            return [str(self.options.program.resolve()), page.name, which]
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if page.ranks else []
        return [self.options.python, *torchrun, str(HERE / "check_examples/names.py"), str(page.path.resolve()), which]

    def traces(self, page: Page, which: str) -> list[str]:
        folder = self.folder / f"{page.name}.{which}"
        folder.mkdir()
        variables = {**os.environ, **page.variables, "GRAPHKIT_SOFT_DEVICES": "2" if page.ranks else "1"}
        options = " ".join(page.options).split()
        done = subprocess.run([self.graphkit, "trace", *options, "--stacks", "-o", "trace.json", "--", *self.command(page, which)],
                              cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=300)
        made = sorted(str(path) for path in folder.glob("trace*.json"))
        if done.returncode != 0 or not made:
            raise Failed(f"{which}: trace ended with {done.returncode}: {done.stderr[-600:]}")
        return sorted(named_by_rank(trace) for trace in made) if page.ranks else made

    def analyze(self, traces: list[str], *options: str) -> str:
        done = subprocess.run([self.graphkit, "analyze", *traces, *options], capture_output=True, text=True, check=False)
        if not done.stdout:
            raise Failed(f"analyze: {done.stderr}")
        return done.stdout

    def findings(self, traces: list[str]) -> list[dict]:
        """Of the traces together, and of each."""
        groups = [traces, *([trace] for trace in traces if len(traces) > 1)]
        return [finding for group in groups for finding in found_in(json.loads(self.analyze(group, "--format", "json")))]

    def shown(self, traces: list[str], check: str) -> str:
        """The first finding as analyze prints it, without the folder of this build, addresses of the host and its times."""
        text = re.sub(r"[\w./-]*/(?=[\w-]+\.md:\d)", "", self.analyze(traces, "--check", check, "--top", "0"))
        text = re.sub(r"\b0x[0-9a-f]{9,}", "0x…", text)
        text = re.sub(r"(paused the capture of [^.]*?\sfor\s+)[\d.]+ (?=ms\b)", r"\1… ", text)
        found = re.search(r"^(?:[\w./-]+:\d+: )?(?:error|warning|note): .*?(?=\n\n|\Z)", text, re.M | re.S)
        if not found:
            raise Failed(f"analyze prints no finding of {check}:\n{text}")
        return "".join(f"    {line}".rstrip() + "\n" for line in found.group(0).rstrip().splitlines())

    def run(self, page: Page) -> None:
        if page.name not in NOT_FOUND_HERE:
            self.wrong(page)
        right = [f for f in self.findings(self.traces(page, "right")) if f["check"] == page.name or f["severity"] != "note"]
        if right:
            raise Failed(f"the right program has findings: {[(f['check'], f['message']) for f in right]}")

    def wrong(self, page: Page) -> None:
        traces = self.traces(page, "wrong")
        findings = self.findings(traces)
        of_check = [finding for finding in findings if finding["check"] == page.name]
        if not of_check:
            raise Failed(f"nothing is found in the wrong program but {[f['check'] for f in findings]}")
        places = set(places_in(of_check))
        if page.name not in WITHOUT_LINE and page.marked() not in places:
            raise Failed(f"{page.marked()} isn't among the places: {sorted(places)}")
        output = self.shown(traces, page.name)
        if output in page.text:
            return
        if not self.options.update:
            raise Failed(f"the page shows other output than:\n{output}")
        start = page.blocks[0].end() + 1
        page.path.write_text(page.text[:start] + "\n" + output + "\n" + page.text[SHOWN.match(page.text, start).end():], encoding="utf-8")


def compare_index(folder: pathlib.Path, graphkit: pathlib.Path) -> None:
    """The table of symptoms has each check once, with its severity."""
    rows = sorted(re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \| (\w+) \|", (folder / "index.md").read_text(encoding="utf-8"), re.M))
    listed = subprocess.run([graphkit, "help", "checks"], capture_output=True, text=True, check=True).stdout
    checks = sorted(re.findall(r"^  ([a-z]+[a-z-]+) +(error|warning|note) ", listed, re.M))
    if rows != checks:
        raise Failed(f"index.md and graphkit help checks differ: {sorted(set(rows) ^ set(checks))}")


def named_by_rank(trace: str) -> str:
    """The name of the trace after it was renamed by its rank: else it is that of a process, or of the first that ended."""
    path = pathlib.Path(trace)
    rank = re.search(r'"type":"communicator",[^}]*"rank":(\d+)', path.read_text(encoding="utf-8"))
    return str(path.rename(path.with_name(f"rank{rank.group(1)}.json"))) if rank else trace


def found_in(report: dict) -> list[dict]:
    """The findings of a trace, or of several: of each, and of all together."""
    lists = [value.get("findings", []) for value in [report, *report.get("traces", []), *report.get("ranks", [])]]
    return [finding for each in lists for finding in each]


def places_in(value) -> list[str]:
    """The file and line of each frame of a stack, and those in a sentence."""
    if isinstance(value, str):
        return re.findall(r"[\w-]+\.md:\d+", value)
    if isinstance(value, list):
        return [place for item in value for place in places_in(item)]
    if not isinstance(value, dict):
        return []
    own = [f"{pathlib.PurePath(value['file']).name}:{value['line']}"] if value.get("file") and "line" in value else []
    return own + [place for item in value.values() for place in places_in(item)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("do", choices=["write", "test"])
    parser.add_argument("pages", type=pathlib.Path)
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--graphkit", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--python")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_intermixed_args()
    if options.do == "write":
        write(options.pages, pathlib.Path(options.rest[0]))
        return 0
    options.graphkit = options.graphkit or options.build / "bin/graphkit"
    compare_index(options.pages, options.graphkit)
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, pathlib.Path(folder))
        for page in pages(options.pages, "cpp" if options.program else "py"):
            if options.rest and page.name not in options.rest:
                continue
            try:
                runner.run(page)
                passed += 1
            except (Failed, subprocess.TimeoutExpired) as reason:
                failed += 1
                print(f"FAILED {page.name}: {reason}")
    print(f"check_examples: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
