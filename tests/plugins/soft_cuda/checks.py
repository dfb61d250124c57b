"""The functions that the conformance programs check, read from their sources, compared with abi/checked.table.

    checks.py ABI_FOLDER CUDA_INCLUDE PER_THREAD PROGRAMS... [--write]      --write: the table is made to say so

PROGRAMS are the sources; PER_THREAD lists, with commas, the programs that are also built with per-thread default
streams: they check the per-thread twins.

A function counts as modelled only if a program checks its effect and one of its errors:
  effect   a line `// effect: cudaFoo cudaBar` above the check; the program must call them
  error    EXPECT_ERROR(cudaErrorX, cudaFoo(...)), EXPECT_FAILS(cudaFoo(...)), or for CUPTI
           EXPECT(CUPTI(cuptiFoo)(...) == CUPTI_ERROR_X)
           a line `// cannot fail: cudaFoo` for the few that have no error
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

EFFECT = re.compile(r"^// effect:(.*)$", re.M)
CANNOT_FAIL = re.compile(r"^// cannot fail:(.*)$", re.M)
ERRORS = [re.compile(r"EXPECT_ERROR\(\s*(?!cudaSuccess|CUDA_SUCCESS|0\b)\w+\s*,\s*((?:__)?cu\w+)\s*\("),
          re.compile(r"EXPECT_FAILS\(\s*(cu\w+)\s*\("),
          re.compile(r"EXPECT\(\s*CUPTI\((\w+)\)[^;]*?==\s*CUPTI_ERROR_")]


@dataclass
class Checks:
    effects: dict  # function: [programs]
    errors: dict

    def programs(self, function):
        """The programs that check its effect, if one of its errors is checked, too."""
        return self.effects.get(function, []) if function in self.errors else []


def newest_names(header):
    """cuda.h's `#define cuFoo cuFoo_v2` and `#define cuFoo __CUDA_API_PTDS(cuFoo_v2)`: what a program calls by the
    short name. Old names of functions that are gone are defined further down; the first definition counts."""
    renamed = {}
    pattern = r"^\s*#\s*define\s+(cu\w+)\s+(?:__CUDA_API_PT[DS][SZ]\()?(cu\w+_v\d+)\)?\s*$"
    for short, full in re.findall(pattern, header, re.M):
        renamed.setdefault(short, full)
    return renamed


def full_name(name, renamed):
    """The exported name: programs call cuFoo for the newest version, and cuFoo_v1 for the first, which they ask
    cuGetProcAddress for."""
    return name[:-3] if name.endswith("_v1") else renamed.get(name, name)


def read_checks(sources, renamed):
    """`sources`: paths of the programs. Names of functions that a program doesn't call are an error."""
    checks = Checks({}, {})
    for source in sources:
        text = source.read_text()
        code = re.sub(r"//.*", "", text)
        for pattern, table in ((EFFECT, checks.effects), (CANNOT_FAIL, checks.errors)):
            for name in " ".join(pattern.findall(text)).split():
                if not name.startswith("__") and not re.search(rf"\b{name}\b", code):
                    raise SystemExit(f"{source}: names {name}, which it doesn't call")
                table.setdefault(full_name(name, renamed), []).append(source.stem)
        for pattern in ERRORS:
            for name in pattern.findall(code):
                checks.errors.setdefault(full_name(name, renamed), []).append(source.stem)
    return checks


def program_of(name, base, checks, per_thread):
    programs = checks.programs(name)
    if not programs and name != base:
        programs = [p for p in checks.programs(base) if p in per_thread]
    return programs[0] if programs else None


def checked_table(abi, checks, per_thread):
    """The text of the table: of what is modelled and checked, library by library."""
    sys.path.insert(0, str(abi))
    import generate
    lines = ["# The conformance program that checks each function's effect, where one of its errors is checked, too.",
             "# Written by tests/plugins/soft_cuda/checks.py (cmake --build build --target update_checked)."]
    for kind in ("driver", "runtime", "cupti"):
        rows = list(generate.read_table(abi / f"{kind}.table"))
        families = {r.name: r.family for r in rows}
        for row in rows:
            base = generate.base_of(row.name)
            program = program_of(row.name, base, checks, per_thread)
            if program and families.get(base, row.family) != "-":
                lines.append(f"{row.name:<58} {program}")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("abi", type=pathlib.Path)
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("per_thread")
    parser.add_argument("programs", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    checks = read_checks(sorted(args.programs), newest_names((args.include / "cuda.h").read_text()))
    text = checked_table(args.abi, checks, args.per_thread.split(","))
    table = args.abi / "checked.table"
    if args.write:
        table.write_text(text)
    differ = sorted(set(text.splitlines()) ^ set(table.read_text().splitlines()))
    for line in differ:
        print(f"the programs and {table.name} differ: {line}")
    if differ:
        print("cmake --build build --target update_checked writes what the programs check")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
