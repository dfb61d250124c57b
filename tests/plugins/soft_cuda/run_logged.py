"""Runs a program with callback_log injected and compares the log with the expected one.

    run_logged.py PROGRAM LOG_LIBRARY EXPECTED [--gpu]

The expected file is a GPU's log. Its # lines say where it comes from and don't count. A line that begins with ~ counts on
a GPU only (--gpu), one that begins with % on the software device only. Left out of every log are the calls before the
first one of the runtime, the runtime's questions about contexts, kernels and devices, and when code is loaded.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LEFT_OUT = re.compile(r"\s*(enter|exit) driver (cuCtx|cuKernelGet|cuDeviceGet|cuLibrary|cuModuleGetLoadingMode)|\s*6$")


def compared(lines):
    first = next((i for i, line in enumerate(lines) if line.startswith("enter runtime")), len(lines))
    return [line for line in lines[first:] if not LEFT_OUT.match(line)]


def expected_lines(path, own, other):
    """The lines of the file that count where `own` marks lines and `other` marks those of the other device."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("#", other))]
    return [line.removeprefix(own) for line in lines]


def main() -> int:
    program, library, expected = sys.argv[1:4]
    own, other = "~%" if "--gpu" in sys.argv else "%~"
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "callbacks.log"
        environment = dict(os.environ, CUDA_INJECTION64_PATH=library, CALLBACK_LOG=str(log))
        code = subprocess.run([program], env=environment, check=False).returncode
        got = compared(log.read_text().splitlines()) if log.exists() else []
    want = expected_lines(pathlib.Path(expected), own, other)
    difference = list(difflib.unified_diff(want, got, "expected", "got", lineterm=""))
    print("\n".join(difference))
    return 1 if code or difference else 0


if __name__ == "__main__":
    sys.exit(main())
