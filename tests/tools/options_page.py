"""docs/cli.md has each option of each subcommand: in its section, or on the page that the section of the commands names.

usage: options_page.py GRAPHKIT SOURCE
"""

import pathlib
import re
import subprocess
import sys

# Subcommands with a page of their own.
PAGES = {"check": "check.md", "diff": "diff.md", "export": "import.md"}
COMMON = {"--help", "--version"}


def sections(page: str) -> dict[str, str]:
    """The text under each heading that names a subcommand."""
    return {found[1]: found[2] for found in re.finditer(r"^## graphkit (\S+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)}


def help_of(graphkit: str, *words: str) -> str:
    return subprocess.run([graphkit, *words, "--help"], check=True, capture_output=True, text=True).stdout.split("\nExamples:")[0]


def options_of(text: str) -> set[str]:
    """Each option by its short name, where it has one, else by its long one."""
    found = re.findall(r"^ +(?:(-\w), )?(--[a-z][\w-]*)", text.split("\nOptions:")[-1], re.MULTILINE)
    return {short or long for short, long in found if long not in COMMON}


def main() -> int:
    graphkit, docs = sys.argv[1], pathlib.Path(sys.argv[2]) / "docs"
    of_command = sections((docs / "cli.md").read_text())
    names = re.findall(r"^  ([a-z]+[a-z-]*|FILE) ", help_of(graphkit).split("\nOptions:")[0], re.MULTILINE)
    missing, count = [], 0
    for name in names:
        text = (docs / PAGES[name]).read_text() if name in PAGES else of_command.get(name)
        if text is None:
            missing.append(f"docs/cli.md has no section graphkit {name}")
            continue
        options = options_of(help_of(graphkit, name))
        count += len(options)
        missing += [f"docs/{PAGES.get(name, 'cli.md')} lacks {option} of graphkit {name}" for option in sorted(options)
                    if not re.search(rf"(?<![\w-]){option}(?![\w-])", text)]
    print("\n".join(missing) if missing else f"{count} options of {len(names)} subcommands are documented")
    return 1 if missing or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
