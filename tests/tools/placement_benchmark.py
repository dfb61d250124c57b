"""testdata/placement has the problems that tools/benchmark/placement.py makes of the recorded traces, and those of its own
captures, with plans and bounds that hold, and docs/benchmark.md has their table. A wrong plan is refused.

usage: placement_benchmark.py GRAPHKIT SOURCE [--update]     --update rewrites the problems of the traces, and the table
"""

import ast
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

GRAPHKIT, SOURCE, UPDATE = "", pathlib.Path(), False
BEGINS, ENDS = "\n| problem |", "\n\n## "


def placement(*words) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SOURCE / "tools/benchmark/placement.py", *words], capture_output=True, text=True)


def problems(folder: pathlib.Path, captured: bool = False) -> dict:
    """By file; `captured`: those that placement.py record made, which are of no trace here."""
    texts = {file.name: file.read_text() for file in sorted(folder.glob("*.json"))}
    return {name: text for name, text in texts.items() if ("settings" in json.loads(text)) == captured}


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

    def test_captured_problems_say_how_they_are_made(self):
        sys.path.insert(0, str(SOURCE / "tools/benchmark"))
        import placement as made
        import sized
        settings = {name: (program, words) for name, program, words in made.captures()}
        found = problems(SOURCE / "testdata/placement", captured=True)
        self.assertGreater(len(found), 100)
        for name, text in found.items():
            problem, capture = json.loads(text), name.split(".")[0].removesuffix("-history")
            self.assertEqual((problem["origin"], problem["settings"].split()), settings[capture], name)
        for program, words in settings.values():
            values = dict(word.split("=", 1) for word in words if "=" in word)
            sized.sized((SOURCE / program).read_text(), values)  # ends where the program has no such name
        text = ast.unparse(sized.sized("WIDTH, LAYERS = 256, 4\nX = WIDTH\n", {"LAYERS": "2", "X": "(1, 2)"}))
        self.assertEqual(text, "WIDTH, LAYERS = (256, 2)\nX = (1, 2)")

    def test_problems_are_the_same_as_traces_and_as_lifetimes(self):
        seed = random.randrange(1 << 32)
        files = random.Random(seed).sample(sorted((SOURCE / "testdata/placement").glob("*.json")), 30)
        lifetimes = 0
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                problem = json.loads(file.read_text())
                bound = sum(problem["sizes"][x] for x in problem["bound"])
                for form, name in (("trace", "trace.json"), ("csv", "lifetimes.csv")):
                    printed = placement(form, file)
                    if printed.returncode == 1 and form == "csv":
                        self.assertEqual(printed.stderr, "no lifetimes have the order of this problem\n")
                        continue
                    lifetimes += form == "csv"
                    path = pathlib.Path(folder) / name
                    path.write_text(printed.stdout)
                    plan = json.loads(subprocess.run([GRAPHKIT, "plan", path, "--format", "json", "--effort", "0"], check=True,
                                                     capture_output=True).stdout)
                    self.assertEqual(plan["lower_bound_bytes"], bound, (seed, file.name, form))
                    offsets = [placed["offset"] for placed in plan["placements"]]
                    (pathlib.Path(folder) / "plan.json").write_text(json.dumps(offsets))
                    said = placement("check", file, pathlib.Path(folder) / "plan.json").stdout.strip()
                    self.assertEqual(said, f"peak {plan['peak_bytes']}, bound {bound}", (seed, file.name, form))
        self.assertGreater(lifetimes, 0)

    def test_orders_without_lifetimes_are_planned_as_well_as_recorded(self):
        names = ["wavefront-1-history.0.0", "wavefront-3-history.0.0", "wavefront-9-history.0.0", "exchange-5-history.0.0",
                 "exchange-9-history.0.0", "gpt-5.0.1", "recurrent-1-history.0.0"]  # the last two have lifetimes
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                problem = json.loads((SOURCE / f"testdata/placement/{name}.json").read_text())
                path = pathlib.Path(folder) / "trace.json"
                path.write_text(placement("trace", SOURCE / f"testdata/placement/{name}.json").stdout)
                plan = json.loads(subprocess.run([GRAPHKIT, "plan", path, "--format", "json"], check=True, capture_output=True).stdout)
                self.assertEqual(plan["peak_bytes"], sum(problem["sizes"][x] for x in problem["bound"]), name)

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
