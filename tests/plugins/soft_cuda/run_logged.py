"""Runs a program with callback_log injected and compares the log with the expected one.

    run_logged.py PROGRAM LOG_LIBRARY EXPECTED [--update]

The expected file says in # lines where each part comes from; they don't count.
"""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile


def main() -> int:
    program, library, expected = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "callbacks.log"
        environment = dict(os.environ, CUDA_INJECTION64_PATH=library, CALLBACK_LOG=str(log))
        code = subprocess.run([program], env=environment, check=False).returncode
        got = log.read_text().splitlines() if log.exists() else []
    if "--update" in sys.argv:
        pathlib.Path(expected).write_text("\n".join(got) + "\n")
    want = [line for line in pathlib.Path(expected).read_text().splitlines() if not line.startswith("#")]
    difference = list(difflib.unified_diff(want, got, "expected", "got", lineterm=""))
    print("\n".join(difference))
    return 1 if code or difference else 0


if __name__ == "__main__":
    sys.exit(main())
