"""docs/options.md lists the options that the command's help has.

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
        environment = {**os.environ, "COLUMNS": "92"}
        return subprocess.run([graphkit, *words, "--help"], check=True, capture_output=True, text=True, env=environment).stdout

    def options_of(name: str) -> str:
        """Its help without the option that prints it and without examples, which `cli.md` has with their output."""
        lines = help_of(name).split("\nExamples:")[0].split("\n")
        return "\n".join(line for line in lines if not line.startswith("  -h, --help ")).strip()

    listed = help_of().split("Subcommands:")[1].split("\n\n")[0]
    parts = [INTRODUCTION]
    for name in re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE):
        parts.append(f"## graphkit {name}\n\n```text\n{options_of(name)}\n```\n")
    return "\n".join(parts)


def main() -> int:
    graphkit, path = sys.argv[1], pathlib.Path(sys.argv[2]) / "docs/options.md"
    made = page(graphkit)
    if "--update" in sys.argv:
        path.write_text(made)
    if path.exists() and path.read_text() == made:
        return 0
    print(f"docs/options.md differs from the command's help; run {sys.argv[0]} GRAPHKIT SOURCE --update", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
