#!/usr/bin/env python3
"""tools/ci as CI systems run it: the steps of the action and of GitLab's template, with their inputs and variables.

    ci_recipes.py --bin BUILD/bin --program BUILD/workloads/record_stream

The program holds 72 MiB of deferred frees (testdata/workloads/record_stream.cu).
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

import yaml

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools/ci"
ARGUMENTS = None


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


class Github(InAFolder):
    action = yaml.safe_load((TOOLS / "github/action.yml").read_text())

    def run_action(self, **inputs):
        """The step that runs something, with the inputs put in as the runner does."""
        values = {name: given["default"] for name, given in self.action["inputs"].items()} | inputs
        steps = [step for step in self.action["runs"]["steps"] if "run" in step]
        self.assertEqual([step["shell"] for step in steps], ["bash"])
        filled = {name: re.sub(r"\$\{\{ inputs\.(\S+) \}\}", lambda found: values[found[1]], text)
                  for name, text in steps[0]["env"].items()}
        self.summary, self.output = self.folder / "summary.md", self.folder / "output"
        return bash(steps[0]["run"], self.folder, filled | {
            "GITHUB_ACTION_PATH": str(TOOLS / "github"), "RUNNER_TEMP": str(self.folder),
            "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output)})

    def test_a_program_within_its_limits_passes(self):
        ran = self.run_action(run=f"{ARGUMENTS.program} && true", options="--max-deferred 72MiB")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("### graphkit check passed", self.summary.read_text())
        self.assertEqual(self.output.read_text(), "exit-code=0\n")

    def test_deferred_frees_fail_the_job_and_are_in_its_summary(self):
        ran = self.run_action(run=ARGUMENTS.program, options="--max-deferred 0")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("::error title=max-deferred::", ran.stdout)
        self.assertIn("| ❌ | `max-deferred` | trace.json, graph 0 | 72 MiB | 0 B |", self.summary.read_text())
        results = json.loads((self.folder / "graphkit.sarif").read_text())["runs"][0]["results"]
        self.assertTrue(results)

    def test_settings_made_by_init_hold_what_was_there(self):
        self.assertEqual(self.graphkit(f"trace -o trace.json {ARGUMENTS.program}").returncode, 0)
        self.assertEqual(self.graphkit("check trace.json --init ci/graphkit.json").returncode, 0)
        ran = self.run_action(run=ARGUMENTS.program, config="ci/graphkit.json")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_program_that_records_nothing_is_no_pass(self):
        self.assertNotEqual(self.run_action(run="true").returncode, 0)


class Gitlab(InAFolder):
    template = yaml.safe_load((TOOLS / "gitlab.yml").read_text())[".graphkit"]

    def run_template(self, **variables):
        script = "\n".join(self.template["before_script"] + self.template["script"])
        return bash(script, self.folder, self.template["variables"] | variables)

    def test_the_report_is_there_whether_it_passes_or_fails(self):
        settings = {"schema": "graphkit-config", "version": 1, "check": {"max_deferred": 0}}
        (self.folder / "gate.json").write_text(json.dumps(settings))
        for config, status in (("", 0), ("gate.json", 1)):
            ran = self.run_template(GRAPHKIT_RUN=ARGUMENTS.program, GRAPHKIT_CONFIG=config)
            self.assertEqual(ran.returncode, status, ran.stderr)
            self.assertIn("<testsuites", (self.folder / "graphkit.xml").read_text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--program", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
