"""Every command in the documentation runs, and what is shown of its output is what it prints.

usage: docs_commands.py GRAPHKIT SOURCE BUILD

Commands are the lines of code blocks that begin with `graphkit` or `build/bin/graphkit`, with or without "$ " before them; those of
a file run one after the other in one folder. With "$ ", the lines up to the next command are its output, the
beginning of it when they end with "…"; where there are none, it isn't looked at. In running text, `graphkit
SUBCOMMAND --option` is looked up in the subcommand's help. Links lead to pages, headings and pictures that are there. Banned words
are in none of them, nor in the transcripts and the sources. Without the workloads, commands that trace are left out.
"""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GRAPHKIT, TESTDATA, BUILD = "", pathlib.Path(), pathlib.Path()
FILES: list[pathlib.Path] = []
COMMAND = re.compile(r"(?:\$ )?((?:build/bin/)?graphkit (?:[a-z]|--version|--help).*)")
VERDICTS = ("check", "diff", "replay", "plan", "pipeline")  # that may end with 1
# What stands for something of the reader's, and what takes its place here.
STANDS_FOR = [("./build/step", "build/workloads/fork_join"), ("./step", "build/workloads/fork_join"),
              ("./app --its-option", "build/workloads/fork_join"), ("./app args…", "build/workloads/fork_join"),
              ("./app", "build/workloads/fork_join")]
NOT_HERE = re.compile(r"python \w+\.py|torchrun|vllm serve|sglang|mpirun|srun|--graph 3|--execute host|<subcommand>|--time 60|--captured 8,64|stacks\.json\.gz")


def blocks(text: str) -> list[list[str]]:
    """The code blocks: fenced ones, and paragraphs indented by four spaces."""
    found, block, fenced = [], [], False
    for line in [*text.split("\n"), ""]:
        if line.lstrip().startswith("```"):
            fenced = not fenced
            found.append(block)
            block = []
        elif fenced or line.startswith("    ") or (block and not line.strip()):
            block.append(line if fenced else line[4:])
        elif block:
            found.append(block)
            block = []
    return [block for block in found if any(line.strip() for line in block)]


def commands(text: str) -> list[tuple[str, list[str] | None]]:
    """Each with the output that is shown; None: none is."""
    found = []
    for block in blocks(text):
        shown = None
        for line in block:
            match = COMMAND.fullmatch(line.strip())
            if match and (line.startswith("$ ") or shown is None):
                shown = [] if line.startswith("$ ") else None
                found.append((re.sub(r"\s+#.*", "", match[1]), shown))
            elif shown is not None:
                shown.append(line)
    return found


def spans(text: str) -> list[str]:
    plain = "\n".join(line for line in text.split("\n") if not line.startswith("    "))
    return [span for span in re.findall(r"`(graphkit [^`]+)`", plain)]


def make_folder(folder: pathlib.Path) -> None:
    soft = TESTDATA / "traces" / "soft"
    for name in ("trace", "before", "step", "step-100", "engine", "rank", "rank0", "rank2", "rank3"):
        shutil.copy(soft / "record_stream.json", folder / f"{name}.json")
    for name in ("after", "good", "step-200", "rank1"):
        shutil.copy(soft / "fork_join.json", folder / f"{name}.json")
    shutil.copy(soft / "inference_server.json", folder / "server.json")
    for name in ("snapshot", "before", "after"):
        shutil.copy(TESTDATA / "import" / "snapshot.pickle", folder / f"{name}.pickle")
    shutil.copy(TESTDATA / "import" / "trace.json", folder / "run.json")  # of the snapshot's process
    (folder / "profile.json.gz").write_bytes(gzip.compress((TESTDATA / "import" / "profile.json").read_bytes()))
    shutil.copy(TESTDATA / "minimalloc" / "input.12.csv", folder / "lifetimes.csv")
    for name in ("ci", "traces", ".zfunc", ".config/fish/completions"):
        (folder / name).mkdir(parents=True)
    shutil.copy(folder / "trace.json", folder / "traces")
    shutil.copy(folder / "after.json", folder / "traces")
    (folder / "build").symlink_to(BUILD)
    (folder / "layers.json").write_text(
        '{"schema": "graphkit-layers", "version": 1, "chunks": [[{"signature": "a", "input": "1MiB", "output": "1MiB"}]]}\n')
    subprocess.run([GRAPHKIT, "plan", "trace.json", "-o", "plan.json"], cwd=folder, capture_output=True, check=False)


def make_baseline(command: str, folder: pathlib.Path) -> None:
    """A check against a baseline finds one that was saved from the same traces."""
    match = re.fullmatch(r"graphkit check ((?:[^- ]\S*\.json ?)+).*--baseline (\S+).*", command)
    if match and not (folder / match[2]).exists():
        subprocess.run(f"{GRAPHKIT} check {match[1]} --save-baseline {match[2]}", shell=True, cwd=folder, capture_output=True,
                       check=False)


def make_settings(command: str, folder: pathlib.Path) -> None:
    """A check with settings finds some, where the page hasn't made them."""
    settings = folder / "ci" / "graphkit.json"
    if "--config ci/graphkit.json" in command and not settings.exists():
        settings.write_text('{"schema": "graphkit-config", "version": 1, "check": {"fail_on": ["error"]}}\n')


def runnable(command: str) -> bool:
    if NOT_HERE.search(command) or (" trace " in command and not (BUILD / "workloads").is_dir()):
        return False
    piped = [part.split()[0] for part in command.split("|")[1:]]
    return all(shutil.which(tool) or tool == "graphkit" for tool in piped)


class Docs(unittest.TestCase):
    def run_command(self, command: str, folder: pathlib.Path) -> tuple[int, str]:
        for there, here in STANDS_FOR:
            if there in command:
                command = command.replace(there, here)
                break
        command = command.replace("build/bin/graphkit", "graphkit")
        if "--device" not in command:  # the same where there is a GPU
            command = command.replace("graphkit trace ", "graphkit trace --device soft ")
        make_baseline(command, folder)
        make_settings(command, folder)
        path = f"{pathlib.Path(GRAPHKIT).parent}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PATH": path, "HOME": str(folder), "BROWSER": "true"}, check=False)
        return done.returncode, done.stdout.decode()

    def check_output(self, shown: str, output: str) -> None:
        *parts, last = re.split(r"^ *…$", shown, flags=re.MULTILINE)
        for part in parts:
            self.assertIn(part, output)
            output = output[output.index(part) + len(part):]
        if parts:  # what was left out may lie before the last part, or be the end
            output = output[len(output) - len(last):]
        self.assertEqual(last, output)

    def check_file(self, file: pathlib.Path, folder: pathlib.Path) -> int:
        ran = 0
        for command, shown in commands(file.read_text()):
            if not runnable(command):
                continue
            with self.subTest(file=file.name, command=command):
                code, output = self.run_command(command, folder)
                allowed = (0, 1) if command.split()[1] in VERDICTS else (0,)
                self.assertIn(code, allowed, output)
                if shown and "".join(shown).strip():
                    self.check_output("\n".join(shown).strip(), output.replace(str(folder), "/src").strip())
            ran += 1
        return ran

    def test_the_commands_run_and_print_what_is_shown(self):
        ran = 0
        for file in [file for file in FILES if file.name != "options.md"]:  # examples of --help, each for files of its own
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(os.path.realpath(name))
                if commands(file.read_text()):
                    make_folder(folder)
                    ran += self.check_file(file, folder)
        self.assertGreater(ran, 40)
        print(f"{ran} commands ran")

    def test_options_in_running_text_are_there(self):
        helps: dict[str, str] = {}
        for file in FILES:
            for span in spans(file.read_text()):
                subcommand = span.split()[1]
                if not re.fullmatch(r"[a-z]+", subcommand):
                    continue
                with self.subTest(file=file.name, span=span):
                    if subcommand not in helps:
                        done = subprocess.run([GRAPHKIT, subcommand, "--help"], capture_output=True, check=False)
                        self.assertEqual(0, done.returncode)
                        helps[subcommand] = done.stdout.decode()
                    for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", span):
                        self.assertRegex(helps[subcommand], rf"(?<![\w-]){option}(?![\w-])")


class Links(unittest.TestCase):
    """Links from page to page, to their headings, and to pictures."""

    def test_links_lead_somewhere(self):
        for file in FILES:
            text = re.sub(r"```.*?```", "", file.read_text(), flags=re.DOTALL)
            plain = "\n".join(line for line in text.split("\n") if not line.startswith("    "))
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", plain)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, heading = target.partition("#")
                with self.subTest(file=file.name, link=target):
                    page = (file.parent / path).resolve() if path else file
                    self.assertTrue(page.exists())
                    if heading:
                        self.assertIn(heading, anchors(page.read_text()))


# What a component or a person in particular is meant by, and words that are none of the field's.
BANNED = re.compile(r"\b(nobody|somebody|whoever|everybody|anybody|how manieth|gravest|asks? memory ahead|can(?:'t|not) be had)\b", re.IGNORECASE)


class Words(unittest.TestCase):
    """Subject, verb, object; the field's word."""

    def test_no_banned_turn(self):
        source = TESTDATA.parent
        code = [path for folder in ("libgraphkit", "plugins", "tools") for path in (source / folder).rglob("*")
                if path.suffix in (".cpp", ".h", ".py", ".sh", ".js")]
        found = [f"{file.relative_to(source)}:{number}: {line.strip()}"
                 for file in [*FILES, *code, *(source / "tests/tools/transcripts").glob("*.txt")]
                 for number, line in enumerate(file.read_text().split("\n"), 1) if BANNED.search(line)]
        self.assertEqual([], found)


class Width(unittest.TestCase):
    """Prose is wrapped, so that a diff shows the words that changed. Tables, code and what holds no space can't be."""

    def test_prose_is_wrapped_at_100_columns(self):
        wide = []
        for file in FILES:
            text = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), file.read_text(), flags=re.DOTALL)
            for number, line in enumerate(text.split("\n"), 1):
                words = re.sub(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)", "x", line.strip())
                if len(line) > 100 and not line.startswith(("|", "    ", "#")) and " " in words:
                    wide.append(f"{file.name}:{number}")
        self.assertEqual([], wide)


def anchors(text: str) -> set[str]:
    """As GitHub and GitLab make them of headings."""
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    GRAPHKIT, BUILD = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[3]).resolve()
    SOURCE = pathlib.Path(sys.argv[2]).resolve()
    TESTDATA = SOURCE / "testdata"
    FILES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]
    unittest.main(argv=sys.argv[:1])
