"""Each result of `graphkit check` has a file and a line, in SARIF and in annotations: services drop results without.

usage: check_places.py GRAPHKIT SOURCE

Looks at those of every trace of testdata, with settings and without, and at those that the transcripts show.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GRAPHKIT, SOURCE = "", pathlib.Path()
LIMITS = ("--limit", "max-deferred=0,max-leaks=0,max-peak=1B", "--fail-on", "note")
SETTINGS = '{"schema": "graphkit-config", "version": 1, "check": {"fail_on": ["note"]}}\n'


def places(log: dict) -> list[tuple[str, str, int]]:
    """The rule, the file and the line of each result; "" and 0: there is none."""
    found = []
    for result in [result for run in log["runs"] for result in run["results"]]:
        physical = result.get("locations", [{}])[0].get("physicalLocation", {})
        found.append((result["ruleId"], physical.get("artifactLocation", {}).get("uri", ""),
                      physical.get("region", {}).get("startLine", 0)))
    return found


def annotations(text: str) -> list[tuple[str, str, int]]:
    """The same of GitHub's."""
    lines = [line for line in text.splitlines() if line.startswith("::")]
    found = [re.match(r"::(?:error|warning|notice) file=([^,:]+),line=(\d+),title=([^:]+)::", line) for line in lines]
    return [(at[3], at[1], int(at[2])) if at else (line, "", 0) for at, line in zip(found, lines)]


def without(found: list[tuple[str, str, int]]) -> list[str]:
    return [rule for rule, file, line in found if not file or line < 1]


class Places(unittest.TestCase):
    def check(self, *arguments: str, folder: pathlib.Path | str = ".") -> str:
        done = subprocess.run([GRAPHKIT, "check", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return done.stdout

    def test_a_result_without_a_place_is_seen(self):
        self.assertEqual(["a"], without(places({"runs": [{"results": [{"ruleId": "a", "locations": [{"logicalLocations": []}]}]}]})))
        self.assertEqual(["::error title=a::b"], without(annotations("::error title=a::b\n")))

    def test_every_trace_with_settings_and_without(self):
        traces = [path for path in sorted((SOURCE / "testdata/traces").rglob("*.json*")) if not path.name.startswith("bad-")]
        counts = {"sarif": 0, "github": 0}
        with tempfile.TemporaryDirectory() as name:
            settings = pathlib.Path(name) / "gate.json"
            settings.write_text(SETTINGS)
            for trace in traces:
                for more in ((), ("--config", str(settings))):
                    for form, read in (("sarif", lambda text: places(json.loads(text))), ("github", annotations)):
                        with self.subTest(trace=trace.name, form=form, settings=bool(more)):
                            found = read(self.check(str(trace), *LIMITS, *more, "--format", form))
                            self.assertEqual([], without(found))
                            counts[form] += len(found)
        self.assertTrue(all(count > 100 for count in counts.values()), counts)

    def test_the_place_without_a_line_is_the_settings_or_the_trace(self):
        trace = str(SOURCE / "testdata/traces/soft/leaky.json")
        with tempfile.TemporaryDirectory() as name:
            (pathlib.Path(name) / "gate.json").write_text(SETTINGS)
            for more, file in (((), f"file://{trace}"), (("--config", "./gate.json"), "gate.json"), ((), "graphkit.json")):
                if file == "graphkit.json":
                    (pathlib.Path(name) / file).write_text(SETTINGS)
                found = places(json.loads(self.check(trace, *more, "--format", "sarif", folder=name)))
                self.assertEqual({(file, 1)}, {(where, line) for _, where, line in found})

    def test_the_transcripts(self):
        shown = {"sarif": 0, "github": 0}
        for file in sorted((SOURCE / "tests/tools/transcripts").glob("*.txt")):
            text = file.read_text()
            form = re.search(r"^\$ graphkit check .*--format (sarif|github)", text, re.MULTILINE)
            output = re.search(r"^--- stdout\n(.*?)^--- ", text, re.MULTILINE | re.DOTALL)
            if form and output:
                found = places(json.loads(output[1])) if form[1] == "sarif" else annotations(output[1])
                self.assertTrue(found, file.name)
                self.assertEqual([], without(found), file.name)
                shown[form[1]] += 1
        self.assertGreater(sum(shown.values()), 0)


if __name__ == "__main__":
    GRAPHKIT, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
