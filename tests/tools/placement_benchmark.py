"""testdata/placement has the problems that tools/benchmark/placement.py makes of the recorded traces, with plans and bounds
that hold, and docs/benchmark.md has their table. A wrong plan is refused.

usage: placement_benchmark.py GRAPHKIT SOURCE [--update]     --update rewrites the problems and the table
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GRAPHKIT, SOURCE, UPDATE = "", pathlib.Path(), False
BEGINS, ENDS = "\n| problem |", "\n\n## "


def placement(*words) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SOURCE / "tools/benchmark/placement.py", *words], capture_output=True, text=True)


def problems(folder: pathlib.Path) -> dict:
    return {file.name: file.read_text() for file in folder.glob("*.json")}


class Benchmark(unittest.TestCase):
    maxDiff = None

    def test_problems_are_those_of_the_traces(self):
        data = SOURCE / "testdata"
        traces = [file for folder in ("traces/soft", "torch-traces", "torch-scenarios") for file in (data / folder).iterdir()
                  if file.name.endswith((".json", ".json.zst", ".pickle.zst")) and not file.name.startswith("bad-")]
        with tempfile.TemporaryDirectory() as folder:
            made = placement("make", GRAPHKIT, folder, *traces)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            found = problems(pathlib.Path(folder))
        if UPDATE:
            for name in problems(data / "placement"):
                (data / "placement" / name).unlink()
            for name, text in found.items():
                (data / "placement" / name).write_text(text)
        self.assertEqual(sorted(found), sorted(problems(data / "placement")))
        for name, text in problems(data / "placement").items():
            self.assertEqual(found[name], text, name)

    def test_the_page_has_the_table(self):
        page = SOURCE / "docs/benchmark.md"
        printed = placement("table", *sorted((SOURCE / "testdata/placement").glob("*.json")))
        self.assertEqual(printed.returncode, 0, printed.stderr)
        before, table = page.read_text().split(BEGINS, 1)
        if UPDATE:
            page.write_text(before + "\n" + printed.stdout.rstrip() + ENDS + table.split(ENDS, 1)[1])
        self.assertIn(printed.stdout, page.read_text())

    def test_a_wrong_plan_is_refused(self):
        problem = json.loads((SOURCE / "testdata/placement/fork_join.0.2.json").read_text())
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / name for name in ("problem.json", "plan.json")]

            def said(plan):
                files[0].write_text(json.dumps(problem))
                files[1].write_text(json.dumps(plan))
                return placement("check", *files).stdout.strip()

            self.assertEqual(said(problem["plan"]), "peak 7340032, bound 7340032")
            self.assertEqual(said([0, *problem["plan"][2:]]), "it doesn't have 4 offsets")
            self.assertEqual(said([-512, *problem["plan"][1:]]), "it doesn't have 4 offsets")
            self.assertIn("share bytes, and neither is over before the other begins", said([0, 0, 0, 0]))
            file = files[0]
            file.write_text(json.dumps({**problem, "bound": [0, 1, 2, 3]}))
            self.assertIn("blocks of its bound may share bytes", placement("table", file).stderr)


if __name__ == "__main__":
    UPDATE = "--update" in sys.argv
    GRAPHKIT, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
