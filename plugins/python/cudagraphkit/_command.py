"""The `graphkit` command: runs the program that the package brings."""

import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent / "bin" / "graphkit"


def main() -> int:
    if not PROGRAM.is_file():
        print("graphkit: this package was built without the command: see docs/python.md", file=sys.stderr)
        return 127
    os.execv(PROGRAM, ["graphkit", *sys.argv[1:]])
