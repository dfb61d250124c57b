#!/usr/bin/env python3
"""A file of another tool, and the trace that `graphkit import` makes of it, are explained alike.

    import_explain.py --bin build/bin [FILE…]     (default: the files of testdata)
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

FOLDERS = ["torch-snapshots", "torch-scenarios", "torch-traces", "torch-allocator", "import", "kineto", "dot"]
ENDINGS = [".pickle", ".pickle.zst", ".pickle.gz", ".dot", ".csv", ".sqlite"]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def explained(graphkit, name, *options):
    """Exit code and text, with FILE in place of the file's name."""
    done = run(graphkit, name, *options)
    lines = done.stdout.replace(str(name), "FILE").splitlines()
    return done.returncode, lines


def differs(graphkit, source, folder):
    """Names are of one length, as lines are wrapped by it; the formats are known by the content."""
    original, imported, shown = folder / "from", folder / "into", folder / "same"
    original.write_bytes(source.read_bytes())
    done = run(graphkit, "import", original, "-o", imported)
    if done.returncode not in (0, 3):
        return None
    for options in ([], ["--format", "json"], ["--top", "0", "--stacks"]):
        original.rename(shown)
        before = explained(graphkit, shown, *options)
        shown.rename(original)
        imported.rename(shown)
        after = explained(graphkit, shown, *options)
        shown.rename(imported)
        # Some commands need the file that was imported, which the trace names.
        found = [line.replace(str(original), "FILE") for line in after[1]]
        if before[0] != after[0] or before[1] != found:
            return [f"exit {before[0]} and {after[0]}"] + [
                f"- {a}\n+ {b}" for a, b in zip(before[1], found) if a != b
            ]
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--testdata", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    files = arguments.files or [
        file
        for folder in FOLDERS
        for file in sorted((arguments.testdata / folder).rglob("*"))
        if file.is_file() and any(file.name.endswith(ending) for ending in ENDINGS)
    ]
    graphkit = arguments.bin / "graphkit"
    failed = same = 0
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            difference = differs(graphkit, file, pathlib.Path(folder))
        if difference is None:
            continue
        same += not difference
        if difference:
            failed += 1
            print(f"{file}: explained differently:", *difference[:12], sep="\n")
    print(f"{same} files are explained alike, {failed} aren't")
    sys.exit(failed != 0 or same == 0)


if __name__ == "__main__":
    main()
