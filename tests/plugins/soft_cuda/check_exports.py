"""Checks that the libraries export exactly what their tables list.

    check_exports.py LIBRARY_FOLDER ABI_FOLDER
"""

import pathlib
import subprocess
import sys

LIBRARIES = {"libcuda.so.1": ["driver"], "libcudart.so.13": ["runtime"], "libcupti.so.13": ["cupti"],
             "libcudart.so.12": ["runtime", "runtime12"], "libcupti.so.12": ["cupti", "cupti12"]}
OURS = {"graphkit_soft_shared", "graphkit_soft_inventory", "graphkit_soft_set_conditional", "graphkit_soft_launch",
        "graphkit_soft_has_operands"}


def exported(library: pathlib.Path) -> set:
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[2].split("@")[0] for line in lines if " A " not in line} - OURS


def listed_in(abi: pathlib.Path, tables: list) -> set:
    """The exports in the tables; a later table overrides an earlier one."""
    rows = [line.split("#")[0].split() for table in tables
            for line in (abi / f"{table}.table").read_text().splitlines()]
    families = {row[0]: row[1] for row in rows if row}
    return {name for name, family in families.items() if family != "absent"}


def main() -> int:
    libraries, abi = map(pathlib.Path, sys.argv[1:3])
    wrong = []
    for library, tables in LIBRARIES.items():
        listed = listed_in(abi, tables)
        found = exported(libraries / library)
        wrong += [f"{library}: {name} is listed but not exported" for name in sorted(listed - found)]
        wrong += [f"{library}: {name} is exported but not listed" for name in sorted(found - listed)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
