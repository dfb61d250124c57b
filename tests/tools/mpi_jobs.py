"""Jobs of MPI write what one process writes, byte for byte, and end with its exit code.

usage: mpi_jobs.py GRAPHKIT TESTDATA    GRAPHKIT is built with MPI. Exits with 77 where mpirun isn't installed.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GRAPHKIT, TESTDATA, WORK = "", pathlib.Path(), pathlib.Path()
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(processes: int, *arguments: str) -> tuple[int, bytes]:
    launcher = [] if processes == 0 else ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(processes)]
    done = subprocess.run([*launcher, GRAPHKIT, *arguments], cwd=WORK, capture_output=True, env=ENVIRONMENT, check=False, timeout=120)
    return done.returncode, done.stdout


class Jobs(unittest.TestCase):
    def check(self, code: int, *arguments: str, sizes: tuple[int, ...] = (2, 4)) -> None:
        """Starting a job takes longer than what it does: most commands run in one of the sizes."""
        alone = run(0, *arguments)
        self.assertEqual(code, alone[0], arguments)
        for processes in sizes:
            with self.subTest(arguments=arguments, processes=processes):
                self.assertEqual(alone, run(processes, *arguments))

    def test_analyze(self):
        self.check(0, "analyze", "ranks", sizes=(4,))
        self.check(0, "analyze", "ranks", "--format", "json")
        self.check(3, "analyze", "ranks", "cut.json", "--format", "json", sizes=(2,))

    def test_fewer_traces_than_processes(self):
        self.check(0, "analyze", "ranks/rank0.json", "ranks/rank1.json", sizes=(4,))
        self.check(0, "analyze", "ranks/rank0.json", sizes=(2,))

    def test_check(self):
        for form, size in (("text", 2), ("json", 4), ("sarif", 2), ("junit", 4)):
            self.check(1, "check", "ranks", "--limit", "max-deferred=0", "--format", form, sizes=(size,))
        self.check(3, "check", "ranks", "cut.json", "--format", "json", sizes=(4,))

    def test_report(self):
        self.check(0, "report", "ranks", "-o", "-")

    def test_export(self):
        self.check(0, "export", "ranks", "--format", "csv", "--table", "edges", sizes=(2,))
        self.check(0, "export", "ranks", "--format", "perfetto", sizes=(4,))

    def test_a_file_that_is_no_trace(self):
        self.check(2, "analyze", "ranks", "none.json", sizes=(4,))
        self.check(2, "report", "ranks", "none.json", "-o", "-", sizes=(2,))

    def test_more_than_fits_into_a_message_at_once(self):
        for rank in range(6):
            subprocess.run([pathlib.Path(GRAPHKIT).with_name("graphkit-synth"), "--ops", "20000", "--seed", str(rank), "-o", str(WORK / f"large{rank}.json")], check=True)
        self.check(0, "export", *(f"large{rank}.json" for rank in range(6)), "--format", "json", sizes=(4,))


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed")
        sys.exit(77)
    GRAPHKIT, TESTDATA = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        WORK = pathlib.Path(folder)
        (WORK / "ranks").mkdir()
        for rank, trace in enumerate(sorted((TESTDATA / "traces" / "soft").glob("*.json"))):
            shutil.copy(trace, WORK / "ranks" / f"rank{rank}.json")
        shutil.copy(TESTDATA / "traces" / "hand_truncated.json", WORK / "cut.json")
        (WORK / "none.json").write_text("{}\n")
        unittest.main(argv=sys.argv[:1])
