"""The C++ that git tracks looks as clang-format has it, and clang-tidy's chosen checks find nothing in it.

usage: style.py format SOURCE | style.py tidy SOURCE BUILD [THIRD] | style.py compiler SOURCE BUILD [THIRD]

Versions differ in what they make of the same settings, so one is taken: that of Debian 12. Without it, or where the sources are
no checkout of git, the test is skipped and says so. BUILD has a compile_commands.json of single files (GRAPHKIT_FEW_UNITS=OFF).
THIRD (0, 1, 2) takes a third of them. `compiler` lets BUILD's compiler read them, without making code.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = "14"
SKIPPED = 77
FOLDERS = ("libgraphkit/", "tools/", "plugins/")  # that clang-tidy looks at: tests do on purpose what it warns of


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def tool(name: str) -> str:
    path = shutil.which(f"{name}-{VERSION}")
    return path or skip(f"no {name}-{VERSION} (tools/setup.sh test; lint for clang-tidy)")


def tracked(source: pathlib.Path, *patterns: str) -> list[str]:
    listed = subprocess.run(["git", "-C", source, "ls-files", "--", *patterns], capture_output=True, text=True, check=False)
    if listed.returncode != 0 or not listed.stdout:
        skip("no checkout of git")
    return [name for name in listed.stdout.splitlines() if (source / name).exists()]


def run(command: list[str], source: pathlib.Path) -> str:
    """The command's complaints; empty: none."""
    done = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout if done.returncode != 0 else ""


def complaints(command: list[str], groups: list[list[str]], source: pathlib.Path) -> list[str]:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [said for said in pool.map(lambda files: run([*command, *files], source), groups) if said]


def check_format(source: pathlib.Path) -> list[str]:
    command = [tool("clang-format"), "--dry-run", "-Werror"]
    files = tracked(source, "*.cpp", "*.h", "*.cu", "*.cuh")
    print(f"{len(files)} files")
    return complaints(command, [files[i:i + 50] for i in range(0, len(files), 50)], source)


def third_of(entries: list[dict], third: str) -> list[dict]:
    """Of the compiler's calls every third one, by their files; all without a number."""
    entries = sorted(entries, key=lambda entry: entry["file"])
    return entries[int(third)::3] if third else entries


def check_compiler(_source: pathlib.Path, build: pathlib.Path, third: str = "") -> list[str]:
    entries = third_of(json.loads((build / "compile_commands.json").read_text()), third)
    print(f"{len(entries)} files")

    def read(entry: dict) -> str:
        command = re.sub(r" -o \S+", "", entry["command"]) + " -fsyntax-only"
        return run(["sh", "-c", command], pathlib.Path(entry["directory"]))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [said for said in pool.map(read, entries) if said]


def check_tidy(source: pathlib.Path, build: pathlib.Path, third: str = "") -> list[str]:
    command = [tool("clang-tidy"), "--quiet", "--warnings-as-errors=*", "-p", str(build)]
    commands = build / "compile_commands.json"
    if not commands.exists():
        skip(f"no {commands}")
    compiled = {os.path.realpath(entry["file"]) for entry in third_of(json.loads(commands.read_text()), third)}
    files = [name for name in tracked(source, "*.cpp")
             if name.startswith(FOLDERS) and os.path.realpath(source / name) in compiled]
    if not files:
        skip("no file is compiled by itself (GRAPHKIT_FEW_UNITS=OFF)")
    print(f"{len(files)} files")
    return complaints(command, [[name] for name in files], source)


def main() -> int:
    what, source = sys.argv[1], pathlib.Path(sys.argv[2])
    check = {"format": check_format, "tidy": check_tidy, "compiler": check_compiler}[what]
    found = check(source, *map(pathlib.Path, sys.argv[3:4]), *sys.argv[4:])
    print("\n".join(found) or "nothing to say")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
