"""docs/options.md is what the command says of itself.

usage: options_page.py GRAPHKIT SOURCE [--update]     0: it is, 1: it isn't; --update rewrites it
"""

import os
import pathlib
import re
import subprocess
import sys

INTRODUCTION = """# Options

The options of each subcommand, as in its `--help`. [cli.md](cli.md) describes the commands and
their output. `tests/tools/options_page.py` writes this page.
"""


def page(graphkit: str) -> str:
    def help_of(*words: str) -> str:
        environment = {**os.environ, "COLUMNS": "100"}
        shown = subprocess.run([graphkit, *words, "--help"], check=True, capture_output=True, text=True, env=environment).stdout
        return shown.split("\nExamples:")[0].split("\n\n", 1)[1].strip()

    overview = help_of()
    parts = [INTRODUCTION, f"## graphkit\n\n```text\n{overview}\n```\n"]
    for name in re.findall(r"^  ([a-z]+[a-z-]*|FILE) ", overview.split("\nOptions:")[0], re.MULTILINE):
        parts.append(f"## graphkit {name}\n\n```text\n{help_of(name)}\n```\n")
    return "\n".join(parts)


def main() -> int:
    graphkit, path = sys.argv[1], pathlib.Path(sys.argv[2]) / "docs/options.md"
    made = page(graphkit)
    if "--update" in sys.argv:
        path.write_text(made)
    if path.exists() and path.read_text() == made:
        return 0
    print(f"docs/options.md isn't what the command says; run {sys.argv[0]} GRAPHKIT SOURCE --update", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
