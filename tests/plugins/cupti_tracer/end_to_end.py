"""The tracer in real processes, on the software device, through `graphkit trace`.

    end_to_end.py --build BUILD [--endurance | --handles PROGRAM] [name…]
"""

import pathlib
import sys
import tempfile

import border
import descriptors
import endurance
import faults
import files
import gate
import graphs
import handles
import lives
import measured
import records
import sleep
import stacks
import staging
from harness import ARGUMENTS, Skipped


def main():
    modules = [endurance] if ARGUMENTS.endurance else [records, graphs, lives, files, faults, descriptors, stacks, measured, gate, border, sleep, staging]
    if ARGUMENTS.handles:
        modules = [handles]
    if ARGUMENTS.names:
        modules = [endurance, records, graphs, lives, files, faults, descriptors, stacks, measured, gate, border, sleep, staging]
    failed = 0
    tests = {name[5:]: test for module in modules for name, test in vars(module).items() if name.startswith("test_")}
    for name, test in tests.items():
        if ARGUMENTS.names and name not in ARGUMENTS.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print(f"ok      {name.replace('_', ' ')}")
            except Skipped as why:
                print(f"skipped {name.replace('_', ' ')}: {why}")
            except Exception as error:  # noqa: BLE001: every failure is reported, and the rest goes on
                failed += 1
                print(f"FAILED  {name.replace('_', ' ')}: {type(error).__name__}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
