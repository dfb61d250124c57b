"""Data that doesn't fit into memory lies on disk, and the output is the same.

usage: spill.py GRAPHKIT
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GRAPHKIT = ""
COMMANDS = (("analyze", "--format", "json"), ("replay", "--allocator", "reuse"), ("plan", "--format", "json", "--effort", "0"))


class Spill(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=pathlib.Path(GRAPHKIT).parent)  # not in memory, as /tmp may be
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_graphkit(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHKIT_")}
        return subprocess.run([GRAPHKIT, *arguments], capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**kept, "TMPDIR": str(self.folder), **environment})

    def make_trace(self) -> None:
        made = self.run_graphkit("synth", "--shape", "training", "--ops", "40000", "--streams", "4", "-o", "trace.json")
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_the_same_is_shown(self) -> None:
        self.make_trace()
        for command in COMMANDS:
            with self.subTest(command[0]):
                kept = self.run_graphkit(command[0], "trace.json", *command[1:], GRAPHKIT_MEMORY="8GiB")
                spilled = self.run_graphkit(command[0], "trace.json", *command[1:], GRAPHKIT_MEMORY="2MiB")
                self.assertEqual(kept.returncode, 0, kept.stderr)
                self.assertEqual(spilled.returncode, 0, spilled.stderr)
                self.assertNotIn("lies in", kept.stderr)
                said = f"graphkit: memory beyond 2 MiB lies in {self.folder} (TMPDIR and GRAPHKIT_MEMORY change that)\n"
                self.assertIn(said, spilled.stderr)
                self.assertEqual(spilled.stdout, kept.stdout)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["trace.json"], "files are left")

    def test_without_a_folder_all_is_in_memory(self) -> None:
        self.make_trace()
        done = self.run_graphkit("analyze", "trace.json", GRAPHKIT_MEMORY="2MiB", TMPDIR="/nowhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("lies in", done.stderr)

    def test_no_size(self) -> None:
        done = self.run_graphkit("--version", GRAPHKIT_MEMORY="much")
        self.assertEqual(done.stderr, "graphkit: warning: GRAPHKIT_MEMORY: invalid size 'much'; for example 8GiB\n")


if __name__ == "__main__":
    GRAPHKIT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
