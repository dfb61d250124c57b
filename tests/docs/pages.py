"""The code blocks of a page: which of them are run, and whether what the page shows of their output is what they print.

A block is indented by four columns, or fenced. It is run where its first line is a command, with or without "$ " before it, or
where it is fenced as `python`; of a Jenkinsfile (`groovy`) the `sh` steps are. In a block with "$ " the lines up to the next "$ "
are the command's output, compared line by line, stderr among stdout as on a terminal. A block without "$ " shows commands alone.

In an output a line of "…" alone stands for any lines, or none, and "…" inside a line for any characters of that line: that is how
a page leaves out what is long, and what differs from run to run (times, process ids, temporary folders). Nothing else is let pass.
"""

import dataclasses
import pathlib
import re
import textwrap

PROGRAMS = {"graphkit", "pip", "python", "python3", "podman", "cmake", "ctest", "ninja", "nvcc", "mpirun", "srun", "time",
            "export", "git", ".", "cd", "cp"}
ASSIGNMENTS = re.compile(r"(?:[A-Za-z_]+=\S* +)*")
LEFT_OUT = re.compile(r" *…")


@dataclasses.dataclass(frozen=True)
class Step:
    line: int  # of the page
    language: str  # bash, or python
    text: str
    shown: tuple[str, ...] = ()  # of its output; empty: the page shows none


@dataclasses.dataclass(frozen=True)
class Block:
    line: int
    language: str  # of the fence; empty: none is named
    lines: tuple[str, ...]


class PageError(Exception):
    pass


def blocks(text: str) -> list[Block]:
    found, lines, language, first = [], [], None, 0

    def end() -> None:
        if any(line.strip() for line in lines):
            found.append(Block(first, language or "", tuple(textwrap.dedent("\n".join(lines)).rstrip().split("\n"))))
        lines.clear()

    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            end()
            language = None if language is not None else line.strip("` ")
            first = number + 1
        elif language is not None or line.startswith("    ") or (lines and not line.strip()):
            first = first if lines else number
            lines.append(line)
        else:
            end()
    end()
    return found


def is_command(line: str) -> bool:
    rest = line[ASSIGNMENTS.match(line).end():]
    word = rest.split(" ")[0]
    return word in PROGRAMS or re.match(r"\./|(?:tools|tests|build)/|source <\(", rest) is not None


def of_commands(block: Block) -> list[Step]:
    """Of a block that begins with a command."""
    prompts = any(line.startswith("$ ") for line in block.lines)
    found: list[Step] = []
    for number, line in enumerate(block.lines, block.line):
        if found and found[-1].text.endswith("\\"):
            found[-1] = dataclasses.replace(found[-1], text=f"{found[-1].text}\n{line}")
        elif line.startswith("$ ") or (not prompts and is_command(line)):
            found.append(Step(number, "bash", line.removeprefix("$ ")))
        elif prompts and found:
            found[-1] = dataclasses.replace(found[-1], shown=(*found[-1].shown, line))
        elif line.strip() and not line.startswith("#"):
            raise PageError(f"line {number} is neither a command nor, for lack of \"$ \", the output of one: {line}")
    return found


def steps(text: str) -> list[Step]:
    found = []
    for block in blocks(text):
        if block.language == "python":
            found.append(Step(block.line, "python", "\n".join(block.lines)))
        elif block.language == "groovy":
            found += [Step(number, "bash", match[1]) for number, line in enumerate(block.lines, block.line)
                      if (match := re.search(r"\bsh '(.*)'", line))]
        elif block.language in ("", "sh", "bash"):
            first = next((line for line in block.lines if not line.startswith("#")), "")
            found += of_commands(block) if is_command(first.removeprefix("$ ")) else []
    return found


def like(shown: str, printed: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in shown.rstrip().split("…")), printed.rstrip()) is not None


def without_margin(lines) -> list[str]:
    """Without empty lines before and after."""
    return "\n".join(lines).strip("\n").split("\n")


def difference(shown, printed) -> str:
    """The first line that the page shows and that wasn't printed there; empty: there is none."""
    parts: list[list[str]] = [[]]
    for line in without_margin(shown):
        if LEFT_OUT.fullmatch(line):
            parts.append([])
        else:
            parts[-1].append(line)
    printed = without_margin(printed)
    at = 0
    for number, part in enumerate(parts):
        if number == 0:
            places = [0]
        elif number == len(parts) - 1 and part:
            places = [max(at, len(printed) - len(part))]
        else:
            places = range(at, len(printed) + 1)
        at, wrong = place_of(part, printed, places)
        if wrong:
            return wrong
    if len(parts) == 1 and at < len(printed):
        return f"not shown: {printed[at]}"
    return ""


def place_of(part: list[str], printed: list[str], places) -> tuple[int, str]:
    """Where the part ends at the first of these places that it stands at; else which of its lines is wrong."""
    best = -1
    for place in places:
        same = 0
        while same < len(part) and place + same < len(printed) and like(part[same], printed[place + same]):
            same += 1
        if same == len(part):
            return place + same, ""
        if same > best:
            best, there = same, printed[place + same] if place + same < len(printed) else "the end"
    return 0, f"shown:   {part[best]}\n    printed: {there}"


def pages(source: pathlib.Path) -> list[pathlib.Path]:
    return [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]
