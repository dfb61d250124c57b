"""The output of graphkit at a person's terminal, and its state after that person interrupts it.

usage: terminal.py GRAPHKIT
"""

import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GRAPHKIT = ""


class Terminal(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def synth(self, name: str, *options: str) -> str:
        """A synthetic trace, which graphkit-synth beside graphkit writes."""
        subprocess.run([pathlib.Path(GRAPHKIT).with_name("graphkit-synth"), *options, "-o", name], cwd=self.folder, check=True)
        return name

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "TERM": "xterm"}
        environment.pop("NO_COLOR", None)
        return subprocess.Popen([GRAPHKIT, *arguments], cwd=self.folder, env=environment, **options)

    def on_terminal(self, *arguments: str) -> str:
        """The command's output at a terminal, where a line ends with CR LF."""
        ours, theirs = pty.openpty()
        process = self.start(*arguments, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0, said)
        return said.decode()

    def test_says_what_it_wrote(self) -> None:
        self.synth("a.json", "--alloc", "0.3")
        for name, *command in (("b.json.zst", "import", "a.json"),
                               ("c.html", "report", "a.json"), ("d.csv", "export", "a.json"),
                               ("e.json", "plan", "a.json"), ("f.txt", "analyze", "a.json")):
            with self.subTest(command[0]):
                said = self.on_terminal(*command, "-o", name)
                size = r"\([0-9.]+ [KMG]?i?B\)"
                self.assertRegex(said, rf"wrote {re.escape(name)} {size}")
                self.assertTrue((self.folder / name).stat().st_size > 0)
        piped = self.start("import", "a.json", "-o", "g.json", stderr=subprocess.PIPE)
        self.assertEqual(piped.communicate()[1], b"")

    def test_erases_only_what_it_showed(self) -> None:
        self.synth("a.json")
        self.assertNotIn("\x1b[K", self.on_terminal("export", "a.json", "--format", "csv"))

    def test_counts_the_seconds(self) -> None:
        ours, theirs = pty.openpty()
        process = self.start("analyze", "-", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs)
        said = b""
        while len(re.findall(rb"\d s", said)) < 2:  # as long as nothing comes
            said += os.read(ours, 65536)
        process.communicate()
        os.close(theirs)
        os.close(ours)
        self.assertRegex(said.decode(), r"^graphkit: reading standard input … \d+ s\r\x1b\[Kgraphkit: [^\r]* \d+ s")

    def test_is_as_wide_in_a_pipe_as_columns_says(self) -> None:
        self.synth("a.json", "--shape", "training")
        for command in ("analyze", "check", "survive", "plan --trade"):
            for columns in ("80", "130"):  # the longest words have room there
                words = [GRAPHKIT, *command.split(), "a.json"]
                said = subprocess.run(words, cwd=self.folder, env={**os.environ, "COLUMNS": columns}, capture_output=True,
                                      text=True, check=False).stdout
                prose = [line for line in said.splitlines() if "  " not in line.strip()]  # no tables
                with self.subTest(command, columns=columns):
                    self.assertGreater(len(prose), 0)
                    self.assertLessEqual(max(map(len, prose)), int(columns), said)

    def test_leaves_no_part_of_a_file(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                operations = 20_000
                while not self.interrupted(number, operations):  # it was over before
                    operations *= 2
                self.assertEqual([file.name for file in self.folder.iterdir()], ["in.json"])

    def interrupted(self, number: int, operations: int) -> bool:
        # Where tests run in the background, or under nohup, signals may be ignored.
        self.synth("in.json", "--ops", str(operations))
        process = self.start("import", "in.json", "-o", "out.json", stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        while process.poll() is None and len(list(self.folder.iterdir())) == 1:
            time.sleep(0.001)
        process.send_signal(number)
        self.assertIn(process.wait(), (0, -number))
        whole = self.folder / "out.json"
        over = whole.exists()
        whole.unlink(missing_ok=True)
        return not over


if __name__ == "__main__":
    GRAPHKIT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
