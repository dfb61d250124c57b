#!/usr/bin/env python3
"""tools/ci as CI systems run it: the steps of the action and of GitLab's template, with their inputs and variables.

    ci_recipes.py --bin BUILD/bin --workloads BUILD/workloads

`record_stream` holds 72 MiB of deferred frees, `leaky` leaks memory and an exec, and in `programmatic` a kernel reads what
another one may still write (testdata/workloads).
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import yaml
from check_places import annotations, places, without

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOOLS = SOURCE / "tools/ci"
ARGUMENTS = None
# The planted faults: the check that finds each, and the line of the call.
PLANTED = {
    "leaky": [("block-leak", "cudaMalloc(&data, 3 * kMiB)"), ("exec-leak", "cudaGraphInstantiate(&exec, graph, 0)")],
    "programmatic": [("programmatic-only-order", "cudaLaunchKernelEx(&config, kernel")],
}


# What a first program gets wrong, in two functions each (testdata/workloads/first_graph.cu): three checks, six places. Of a
# race the second line is beside the first.
FIRST = "testdata/workloads/first_graph.cu"
MISTAKES = [("graph-allocation-leak", "cudaMallocAsync(&sum, ", ""), ("graph-allocation-leak", "cudaMallocAsync(&most, ", ""),
            ("missing-order", "  Scale<<<", "  Sum<<<"), ("missing-order", "  Shift<<<", "  Max<<<"),
            ("exec-leak", "cudaGraphInstantiate(", ""), ("exec-leak", "cudaGraphInstantiate(", "last")]


def mistakes():
    """Each as the rule, the line, and the second line or 0."""
    lines = list(enumerate((SOURCE / FIRST).read_text().split("\n"), 1))

    def line(call, last=False):
        found = [at for at, text in lines if call in text]
        return found[-1] if last else found[0]

    return [(rule, line(call, also == "last"), line(also) if also.startswith(" ") else 0) for rule, call, also in MISTAKES]


def planted(program):
    """Each as the rule, the file and the line."""
    name = f"testdata/workloads/{program}.cu"
    lines = (SOURCE / name).read_text().split("\n")
    return {(rule, name, next(at for at, line in enumerate(lines, 1) if call in line)) for rule, call in PLANTED[program]}


def workload(name):
    return str(ARGUMENTS.workloads / name)


def bash(script, folder, variables):
    environment = {**os.environ, "PATH": f"{ARGUMENTS.bin}:{os.environ['PATH']}", **variables}
    return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=300)


class InAFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="graphkit-ci-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def graphkit(self, arguments):
        return bash(f"graphkit {arguments}", self.folder, {})


class Recipes(unittest.TestCase):
    """A copied recipe works as it is: a name to be filled in is a variable that ends the command while it isn't set."""

    def test_no_placeholder_is_left_in_them(self):
        for file in [*filter(pathlib.Path.is_file, TOOLS.rglob("*")), SOURCE / "docs/check.md"]:
            self.assertNotRegex(file.read_text(), r"\b(OWNER|GROUP|ORG|USER|YOUR\w*|example\.com)/", file.name)

    def test_the_page_uses_what_is_there(self):
        steps, job = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", (SOURCE / "docs/check.md").read_text(), re.DOTALL))
        used = next(step for step in steps if "third_party" in step.get("uses", ""))
        self.assertTrue((SOURCE / used["uses"].removeprefix("./third_party/graphkit/") / "action.yml").is_file())
        self.assertLessEqual(set(used["with"]), set(Github.action["inputs"]))
        self.assertEqual(job["memory"]["extends"], ".graphkit")
        self.assertLessEqual(set(job["memory"]["variables"]), set(Gitlab.template["variables"]))


class Github(InAFolder):
    action = yaml.safe_load((TOOLS / "github/action.yml").read_text())

    def run_action(self, step="check", folder=None, **inputs):
        """A step that runs something, with the inputs put in as the runner does."""
        values = {name: given["default"] for name, given in self.action["inputs"].items()} | inputs
        steps = {step["id"]: step for step in self.action["runs"]["steps"] if "run" in step}
        self.assertEqual([(name, step["shell"]) for name, step in steps.items()], [("sources", "bash"), ("check", "bash")])
        filled = {name: re.sub(r"\$\{\{ inputs\.(\S+) \}\}", lambda found: values[found[1]], text)
                  for name, text in steps[step]["env"].items()} if "env" in steps[step] else {}
        self.summary, self.output = self.folder / "summary.md", self.folder / "output"
        return bash(steps[step]["run"], folder or self.folder, filled | {
            "GITHUB_ACTION_PATH": str(TOOLS / "github"), "RUNNER_TEMP": str(self.folder),
            "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output)})

    def test_a_program_within_its_limits_passes(self):
        ran = self.run_action(run=workload("record_stream") + " && true", options="--limit max-deferred=72MiB --fail-on error")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("### graphkit check passed", self.summary.read_text())
        self.assertIn("exit-code=0\n", self.output.read_text())

    def test_deferred_frees_fail_the_job_and_are_in_its_summary(self):
        ran = self.run_action(run=workload("record_stream"), options="--limit max-deferred=0")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn(("max-deferred", "trace.json", 1), annotations(ran.stdout))
        self.assertIn("| ❌ | `max-deferred` | trace.json, graph 0 | 72 MiB | 0 B |", self.summary.read_text())
        results = json.loads((self.folder / "graphkit.sarif").read_text())["runs"][0]["results"]
        self.assertTrue(results)

    def test_what_is_planted_is_shown_at_its_line(self):
        for program in PLANTED:
            ran = self.run_action(run=workload(program), trace=str(self.folder / "trace.json"), folder=SOURCE,
                                  options="--limit max-leaks=0")
            self.assertEqual(ran.returncode, 1, ran.stderr)
            results = places(json.loads((self.folder / "graphkit.sarif").read_text()))
            for found in (annotations(ran.stdout), results):
                self.assertEqual([], without(found))
                self.assertLessEqual(planted(program), set(found))

    def test_a_first_program_has_its_mistakes_within_ten_annotations(self):
        ran = self.run_action(run=workload("first_graph"), folder=SOURCE, trace=str(self.folder / "trace.json"))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        lines = [line for line in ran.stdout.splitlines() if line.startswith("::")][:10]
        self.assertEqual(annotations("\n".join(lines))[:6], [(rule, FIRST, at) for rule, at, _ in mistakes()])
        for line, (_, _, also) in zip(lines, mistakes()):
            self.assertIn("(×4)", line)
            if also:
                self.assertIn(f"; {FIRST}:{also}: ", line)
        run = json.loads((self.folder / "graphkit.sarif").read_text())["runs"][0]
        related = {other["physicalLocation"]["region"]["startLine"] for result in run["results"]
                   for other in result.get("relatedLocations", [])}
        self.assertLessEqual({also for _, _, also in mistakes() if also}, related)

    def test_a_program_that_fails_says_so_and_leaves_no_result(self):
        ran = self.run_action(run="exit 7")
        self.assertEqual(ran.returncode, 7)
        self.assertIn("nothing was checked: the traced command ended with exit code 7: exit 7", ran.stdout)
        self.assertFalse(self.output.exists() and "sarif=" in self.output.read_text())
        upload = next(step for step in self.action["runs"]["steps"] if "upload-sarif" in step.get("uses", ""))
        self.assertIn("steps.check.outputs.sarif != ''", upload["if"])

    def test_each_reason_is_in_the_log_once(self):
        ran = self.run_action(run=workload("record_stream"), options="--limit max-deferred=0 --fail-on none")
        self.assertEqual((ran.stdout + ran.stderr).count("max-deferred: graph 0: 72 MiB deferred, limit 0 B"), 1)

    def test_memory_that_got_worse_has_its_line(self):
        fixed = workload("first_graph") + " --fixed"
        self.assertEqual(self.graphkit("trace --stacks -o trace.json " + fixed).returncode, 0)
        self.assertEqual(self.graphkit("check trace.json --init ci/graphkit.json").returncode, 0)
        self.assertEqual(self.run_action(run=fixed, config="ci/graphkit.json").returncode, 0)
        ran = self.run_action(run=fixed + " --more", config="ci/graphkit.json")
        self.assertEqual(ran.returncode, 1)
        line = next(at for at, text in enumerate((SOURCE / FIRST).read_text().split("\n"), 1) if "cudaMallocAsync(&more" in text)
        self.assertIn(f"live at the peak: 1 MiB → 3 MiB (+200%25, allowed 2%25); new: 2 MiB at workloads/first_graph.cu:{line}",
                      ran.stdout)
        text = self.graphkit("check trace.json --config ci/graphkit.json").stdout
        self.assertIn("graphkit check trace.json --config ci/graphkit.json --save-baseline ci/baseline.json", " ".join(text.split()))

    def test_without_call_stacks_nothing_has_a_line(self):
        ran = self.run_action(run=workload("leaky"), **{"trace-options": "--no-stacks"})
        self.assertEqual({(file, line) for _, file, line in annotations(ran.stdout)}, {("trace.json", 1)})

    def test_the_wheel_in_the_cache_is_that_of_the_sources(self):
        hashes = []
        for _ in range(2):
            self.assertEqual(self.run_action(step="sources").returncode, 0)
            hashes.append(self.output.read_text())
            self.output.unlink()
        self.assertRegex(hashes[0], r"^hash=[0-9a-f]{64}\n$")
        self.assertEqual(hashes[0], hashes[1])

    def test_settings_made_by_init_hold_what_was_there(self):
        self.assertEqual(self.graphkit("trace -o trace.json " + workload("record_stream")).returncode, 0)
        self.assertEqual(self.graphkit("check trace.json --init ci/graphkit.json").returncode, 0)
        ran = self.run_action(run=workload("record_stream"), config="ci/graphkit.json")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_program_that_records_nothing_is_no_pass(self):
        self.assertNotEqual(self.run_action(run="true").returncode, 0)


class Gitlab(InAFolder):
    template = yaml.safe_load((TOOLS / "gitlab.yml").read_text())[".graphkit"]

    def run_template(self, **variables):
        script = "\n".join(self.template["before_script"] + self.template["script"])
        return bash(script, self.folder, self.template["variables"] | variables)

    def test_the_report_is_there_whether_it_passes_or_fails(self):
        for name, limits in (("limit.json", {"max_deferred": 0}), ("none.json", {})):
            settings = {"schema": "graphkit-config", "version": 1, "check": {"fail_on": ["error"], **limits}}
            (self.folder / name).write_text(json.dumps(settings))
        for config, status in (("", 1), ("none.json", 0), ("limit.json", 1)):  # without settings warnings fail
            ran = self.run_template(GRAPHKIT_RUN=workload("record_stream"), GRAPHKIT_CONFIG=config)
            self.assertEqual(ran.returncode, status, ran.stderr)
            self.assertIn("<testsuites", (self.folder / "graphkit.xml").read_text())

    def test_the_report_has_the_lines_of_what_is_planted(self):
        settings = {"schema": "graphkit-config", "version": 1, "check": {"fail_on": ["warning"]}}
        (self.folder / "gate.json").write_text(json.dumps(settings))
        for program in PLANTED:
            ran = self.run_template(GRAPHKIT_RUN=workload(program), GRAPHKIT_CONFIG="gate.json")
            self.assertEqual(ran.returncode, 1, ran.stderr)
            report = ElementTree.parse(self.folder / "graphkit.xml")
            failures = [(failure.get("type"), failure.get("message")) for failure in report.iter("failure")]
            for rule, file, line in planted(program):
                self.assertTrue(any(kind == rule and f"/{file}:{line}: " in message for kind, message in failures), failures)

    def test_the_report_has_a_first_programs_mistakes_as_three_cases(self):
        ran = self.run_template(GRAPHKIT_RUN=workload("first_graph"))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        failures = {failure.get("type"): failure.text for failure in ElementTree.parse(self.folder / "graphkit.xml").iter("failure")}
        self.assertEqual(set(failures), {rule for rule, _, _ in mistakes()})
        for rule, at, also in mistakes():
            self.assertRegex(failures[rule], rf"first_graph\.cu:{at}: \w+: .*\(×4\)" + (rf"; .*first_graph\.cu:{also}: " if also else ""))
            self.assertRegex(ran.stderr, rf"(?m)first_graph\.cu:{at}: \w+: .* \[{rule}\] \(×4\)$")

    def test_init_lists_what_it_accepts_by_place(self):
        self.assertEqual(self.graphkit("trace --stacks -o trace.json " + workload("first_graph")).returncode, 0)
        ran = self.graphkit("check trace.json --init ci/graphkit.json")
        self.assertEqual(ran.returncode, 0)
        accepted = re.findall(r"(?m)^  accepted \S*first_graph\.cu:(\d+): (?:error|warning): ", ran.stdout)
        self.assertEqual([int(at) for at in accepted], [at for _, at, _ in mistakes()])

    def test_without_graphkit_and_a_wheel_nothing_is_installed(self):
        pip = self.folder / "pip"
        pip.write_text("#!/bin/sh\ntouch installed\n")
        pip.chmod(0o755)
        ran = self.run_template(PATH=f"{self.folder}:/usr/bin:/bin")
        self.assertEqual((ran.returncode, ran.stderr),
                         (1, "graphkit: GRAPHKIT_WHEEL is empty; set it to the wheel that tools/wheel.sh makes\n"))
        self.assertFalse((self.folder / "installed").exists())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for folder in ("--bin", "--workloads"):
        parser.add_argument(folder, type=lambda path: pathlib.Path(path).resolve(), required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
