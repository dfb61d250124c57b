"""Runs command-line transcripts, or rewrites what they expect.

A transcript is one text file:

    # Its purpose, in a sentence.
    $ graphkit dot trace.json
    --- file trace.json          an input file, in the empty folder where the command runs
    …
    --- copy trace.json traces/fork_join.json    the same, from testdata/ (files of transcripts alone: testdata/transcripts/)
    --- filter /\\d+ s$/N s/      a substitution (Python's), on all output before it is compared
    --- stdin
    …
    --- stdout                   what is expected; sections that are left out are empty
    …
    --- stderr
    …
    --- output capture.dot       a file that the command writes
    …
    --- exit 2                   left out: 0

A last line that isn't ended by a newline is followed by the line "\\ no newline at the end". Transcripts whose name begins
with "bad-" must fail: with another exit code than 0, and one line on stderr that begins with "graphkit: ".

    run_transcripts.py --bin build/bin --testdata testdata FILE…            0: all as expected, 1: not
    run_transcripts.py --bin build/bin --testdata testdata --update FILE…   rewrites them
"""

import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NO_NEWLINE = "\\ no newline at the end"
LIMIT_SECONDS = 120


@dataclasses.dataclass
class Transcript:
    head: list[str] = dataclasses.field(default_factory=list)  # comments and the command, as they stand
    command: str = ""
    inputs: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # "file NAME" etc., text
    stdout: str = ""
    stderr: str = ""
    outputs: dict[str, str] = dataclasses.field(default_factory=dict)
    code: int = 0


def section_text(lines: list[str]) -> str:
    if lines and lines[-1] == NO_NEWLINE:
        return "\n".join(lines[:-1])
    return "".join(line + "\n" for line in lines)


def sections(text: str):
    title, lines = "", []
    for line in text.splitlines():
        if line.startswith("--- "):
            yield title, lines
            title, lines = line[4:], []
        else:
            lines.append(line)
    yield title, lines


def parse(text: str) -> Transcript:
    result = Transcript()
    for title, lines in sections(text):
        word, _, rest = title.partition(" ")
        if not title:
            result.head = lines
            result.command = "\n".join(line[2:] for line in lines if line.startswith("$ "))
        elif word == "stdout":
            result.stdout = section_text(lines)
        elif word == "stderr":
            result.stderr = section_text(lines)
        elif word == "output":
            result.outputs[rest] = section_text(lines)
        elif word == "exit":
            result.code = int(rest)
        elif word in {"file", "copy", "filter", "stdin"}:
            result.inputs.append((title, section_text(lines)))
        else:
            raise ValueError(f"no section '{title}'")
    return result


def section(title: str, text: str) -> str:
    end = "" if not text or text.endswith("\n") else f"\n{NO_NEWLINE}\n"
    return f"--- {title}\n{text}{end}"


def render(transcript: Transcript) -> str:
    text = "".join(line + "\n" for line in transcript.head)
    text += "".join(section(title, body) for title, body in transcript.inputs)
    if transcript.stdout:
        text += section("stdout", transcript.stdout)
    if transcript.stderr:
        text += section("stderr", transcript.stderr)
    for name, body in transcript.outputs.items():
        text += section(f"output {name}", body)
    return text + (f"--- exit {transcript.code}\n" if transcript.code else "")


def prepare(transcript: Transcript, folder: pathlib.Path, testdata: pathlib.Path) -> tuple[bytes, list]:
    stdin, filters = b"", []
    for title, text in transcript.inputs:
        word, *rest = title.split(" ", 1)
        if word == "file":
            (folder / rest[0]).write_bytes(text.encode())
        elif word == "copy":
            name, source = rest[0].split()
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(testdata / source, folder / name)
        elif word == "filter":
            _, pattern, replacement, _ = rest[0].split(rest[0][0])
            filters.append((re.compile(pattern, re.MULTILINE), replacement))
        else:
            stdin = text.encode()
    return stdin, filters


def environment(bin_folder: pathlib.Path, home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "UBSAN_", "LSAN_", "TSAN_"))}
    return {"PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8", "TERM": "dumb", **kept}


# Messages after a second depend on how busy the machine is.
PROGRESS = re.compile(r"^graphkit: [^;\n]* …\n", re.MULTILINE)


def run(expected: Transcript, bin_folder: pathlib.Path, testdata: pathlib.Path) -> Transcript:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stdin, filters = prepare(expected, folder, testdata)
        done = subprocess.run(["bash", "-c", expected.command], input=stdin, capture_output=True, cwd=folder,
                              env=environment(bin_folder, name), timeout=LIMIT_SECONDS, check=False)

        def filtered(data: bytes) -> str:
            text = data.decode(errors="backslashreplace").replace(name, "FOLDER")
            for pattern, replacement in filters:
                text = pattern.sub(replacement, text)
            return text

        outputs = {file: filtered((folder / file).read_bytes()) if (folder / file).exists() else "(not written)\n"
                   for file in expected.outputs}
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        return dataclasses.replace(expected, stdout=filtered(done.stdout), stderr=PROGRESS.sub("", filtered(done.stderr)),
                                   outputs=outputs, code=code)


def complaints(file: pathlib.Path, actual: Transcript) -> list[str]:
    if not file.name.startswith("bad-"):
        return []
    found = []
    if actual.code == 0:
        found.append("it must fail, and exits with 0")
    if not re.fullmatch(r"graphkit: [^\n]+\n", actual.stderr):
        found.append('it must say one line on stderr that begins with "graphkit: "')
    return found


def check(file: pathlib.Path, options: argparse.Namespace) -> bool:
    before = file.read_text()
    actual = run(parse(before), options.bin.resolve(), options.testdata.resolve())
    after = render(actual)
    if options.update:
        file.write_text(after)
        before = after
    wrong = complaints(file, actual)
    if before != after:
        wrong.append("it differs; if that is right, run again with --update")
        sys.stdout.writelines(line.rstrip("\n") + "\n" for line in difflib.unified_diff(
            before.splitlines(True), after.splitlines(True), "expected", "actual"))
    for what in wrong:
        print(f"{file}: {what}")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Run command-line transcripts.")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--testdata", type=pathlib.Path, default=pathlib.Path("testdata"))
    parser.add_argument("--update", action="store_true", help="write what the commands do into the files")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    return 0 if all([check(file, options) for file in options.files]) else 1


if __name__ == "__main__":
    sys.exit(main())
