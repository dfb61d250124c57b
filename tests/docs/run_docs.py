#!/usr/bin/env python3
"""Runs the commands and the Python blocks of the documentation as a reader would, and compares what they print with what is shown.

    run_docs.py [--build BUILD] [--quick | --wheel FILE] [--third N | PAGE...]     PAGE: docs/tutorial.md; without one all pages,
                                                                                   or every third one (N: 0, 1, 2)

A page is a session in a folder of its own, which has the checkout's files (as links) and what stands for the reader's own: traces,
snapshots, programs (READERS). Commands of tools/ and cmake run in the checkout itself. Programs of CUDA run on the software device,
those of PyTorch with tests/plugins/torch_hook/fake in PyTorch's place. pages.py says what a block is, and how output is compared.

Before that, the wheel is built (or taken: --wheel) and installed into a virtual environment, where the pages' `python`, `pip` and
`import` are. With --quick it isn't, and what takes longer than a moment is left out. What isn't run is named at the end, with the
reason. The last line is `docs: 200 passed, 0 failed, 9 skipped`.
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pages

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = SOURCE / "tests/docs/programs"
FAKE_TORCH = SOURCE / "tests/plugins/torch_hook/fake"
VERDICTS = re.compile(r"graphkit (check|diff|replay|plan)\b")  # that may end with 1

# Files that stand for the reader's own, by the name that they have on the pages.
READERS = {
    **dict.fromkeys(["trace.json", "before.json", "step.json", "step-100.json", "engine.json", "rank.json", "rank0.json", "rank2.json",
                     "rank3.json", "traces/rank0.json"], "testdata/traces/soft/record_stream.json"),
    **dict.fromkeys(["after.json", "good.json", "step-200.json", "rank1.json", "traces/rank1.json"],
                    "testdata/traces/soft/fork_join.json"),
    **dict.fromkeys(["snapshot.pickle", "before.pickle", "after.pickle"], "testdata/import/snapshot.pickle"),
    "run.json": "testdata/import/trace.json",  # of the snapshot's process
    "profile.json.gz": "testdata/import/profile.json",
    **{f"{name}.json.gz": f"testdata/kineto/sglang_decode_{name}.json.gz" for name in ("capture", "replay")},
    "capture_traces": "testdata/kineto/sglang_decode_capture.json.gz",  # for a folder of them
    "server.json": "testdata/traces/soft/inference_server.json",
    "training_step.json": "testdata/traces/soft/training_step.json",
    "requests.csv": "testdata/transcripts/requests.csv",
    "lifetimes.csv": "testdata/minimalloc/input.12.csv",
    "sanitizer.log": "testdata/transcripts/sanitizer.log",
    **dict.fromkeys(["train.py", "train_gpt.py", "serve.py", "server.py"], "tests/docs/programs/train.py"),
    "half_captured.py": "tests/clients/torch/half_captured.py",
    "capture_two_sizes.py": "tests/docs/programs/capture_two_sizes.py",
    "src/step.cu": "tests/docs/programs/step.cu",
}
OF_PAGE = {
    "README.md": {"snapshot.pickle": "testdata/torch-snapshots/transformer_small.pickle"},
    "docs/diff.md": {"before.pickle": "testdata/torch-snapshots/transformer_step.pickle",
                     "after.pickle": "testdata/torch-snapshots/transformer_forward.pickle"},
    "docs/failing-capture.md": {"crashed.json": "testdata/torch-traces/planted_rebound_input.json.zst"},
    "docs/check.md": {"half.json": "testdata/torch-traces/half_captured.json.zst"},
    "docs/attribute.md": {f"sglang_decode_{name}.json.gz": f"testdata/kineto/sglang_decode_{name}.json.gz"
                          for name in ("capture", "replay")},
    "docs/replay.md": {"snapshot.pickle": "testdata/torch-snapshots/transformer_forward.pickle"},
    "docs/frameworks.md": {"engine.json": "testdata/traces/soft/inference_server.json"},
}
EXAMPLE, MAKES_EXAMPLES = "workloads/record_stream", "cmake --build build --target examples"
# The pages that are run whole: what builds, and Python. Of the others, what takes a moment.
WHOLE = ["README.md", *(f"docs/{name}.md" for name in ("tutorial", "check", "python", "torch-allocator", "estimate", "diff"))]
# The reader's programs, where the page hasn't built them.
PROGRAM = re.compile(r"\./(app|step|build/step)\b(?: args…)?")

NOT_RUN = [  # and why
    (r"\b(torchrun|vllm serve|sglang)\b", "needs PyTorch, and GPUs"),
    (r"half_captured\.py", "needs PyTorch: testdata/torch-traces has its trace"),
    (r"^(mpirun|srun)\b", "needs MPI or Slurm"),
    (r"^podman\b", "needs Podman, and images"),
    (r"…|<[a-z]+>|\b(FILE|MODEL|PROGRAM|COMMAND|A B)\b", "a form of a command"),
    (r"tools/test\.sh", "tools/fresh.sh runs it by itself"),
    (r"tools/gpu_check\.sh|--device cuda", "needs a GPU"),
    (r"tests/clients/", "needs PyTorch: tools/test.sh --clients runs it"),
    (r"pip wheel \./plugins/python|-m build --sdist", "tools/test.sh --all does the same"),
]
SLOW = re.compile(r"(\./)?tools/|cmake |ctest |ninja |pip |python3? -m (venv|build)|\. \.venv|nvcc ")
IN_CHECKOUT = re.compile(r"(\./)?tools/|cmake |ctest |ninja |python3? -m build|pip wheel")
TALK = re.compile(r"graphkit: [a-z ]+\S* …")  # after a second of work, on stderr


def python_path(first: pathlib.Path) -> str:
    return os.pathsep.join(filter(None, [str(first), os.environ.get("PYTHONPATH", "")]))


class Session:
    """A page's terminal: what a command sets and where it goes, holds for the next."""

    def __init__(self, folder: pathlib.Path, path: list[pathlib.Path], build: pathlib.Path):
        self.folder, self.state = folder, folder / ".session"
        self.own_python = path[0] / "python"  # has the package and pytest, without --quick
        self.state.write_text(f"cd {folder}\n")
        self.environment = {**os.environ, "GRAPHKIT_CLONE": str(SOURCE), "GIT_ALLOW_PROTOCOL": "file", "HOME": str(folder), "BROWSER": "true", "COLUMNS": "100", "PYTHONPATH": python_path(FAKE_TORCH),
                            "PATH": os.pathsep.join([*map(str, path), os.environ["PATH"]])}
        self.soft = build / "lib/graphkit/soft_cuda"

    def bash(self, command: str, checkout: bool, limit: int) -> tuple[int, str]:
        if "--device" not in command:  # the same where there is a GPU
            command = re.sub(r"\bgraphkit trace ", "graphkit trace --device soft ", command)
        command = self.with_program(command)
        if re.match(r"(?:[A-Z_]+=\S+ )*python \w+\.py", command):  # graphkit trace does so itself
            command = f"export LD_LIBRARY_PATH={self.soft}\n{command}"
        where = f"cd {SOURCE}\n" if checkout else ""
        # Of the variables bash's own can't be set.
        keep = "" if checkout else f"{{ declare -p | grep -v '^declare -[a-zA-Z]*r'; pwd | sed 's/^/cd /'; }} > {self.state}\n"
        script = f"shopt -s expand_aliases; . {self.state} 2> /dev/null\n{where}set -o pipefail\n{command}\ncode=$?\n{keep}exit $code\n"
        done = self.run(["bash", "-c", script], limit)
        wheels = sorted((SOURCE / "dist").glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime) if checkout else []
        if wheels and not (self.folder / "dist" / wheels[-1].name).exists():  # older ones may be there
            (self.folder / "dist" / wheels[-1].name).symlink_to(wheels[-1])
        return done

    def with_program(self, command: str) -> str:
        return PROGRAM.sub(lambda found: found[0] if (self.folder / found[1]).exists() else "build/workloads/fork_join", command)

    def python(self, program: str, page: str, limit: int) -> tuple[int, str]:
        """With what the page takes for granted before it. Tests are run by pytest."""
        before = PROGRAMS / f"before_{pathlib.Path(page).stem}.py"
        file = self.folder / ("test_block.py" if "\ndef test_" in program else "block.py")
        file.write_text((before.read_text() if before.exists() else "") + program + "\n")
        pytest = "-m pytest -q -p no:cacheprovider" if file.name.startswith("test_") else ""
        return self.run(["bash", "-c", f". {self.state} 2> /dev/null\nLD_LIBRARY_PATH={self.soft} exec {self.own_python} {pytest} {file.name}"],
                        limit)

    def run(self, command: list[str], limit: int) -> tuple[int, str]:
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return 124, f"still running after {limit} s"
        return done.returncode, done.stdout.decode(errors="replace")


def make_folder(folder: pathlib.Path, page: str, build: pathlib.Path) -> None:
    for entry in SOURCE.iterdir():
        if not entry.name.startswith((".", "build", "dist")) and entry.suffix not in (".json", ".svg") or entry.name == "CMakePresets.json":
            (folder / entry.name).symlink_to(entry)
    (folder / "build").symlink_to(build)
    for name in ("ci", "dist", ".zfunc", ".config/fish/completions"):
        (folder / name).mkdir(parents=True)
    for name, file in {**READERS, **OF_PAGE.get(page, {})}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        content = (SOURCE / file).read_bytes()
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") and not file.endswith(".gz") else content)


def make_inputs(session: Session, command: str) -> None:
    """A plan, a baseline or settings that a page reads and made in another session."""
    if command.startswith("git submodule "):
        session.bash("git init -q", checkout=False, limit=60)
    made = [("plan.json", "plan trace.json -o")] if re.search(r"(?<!-o )plan\.json", command) else []
    if check := re.search(r"graphkit check ((?:[^- ]\S* )+).*?--(baseline|config) (\S+)", command):
        made.append((check[3], f"check {check[1]} --{'save-baseline' if check[2] == 'baseline' else 'init'}"))
    for name, arguments in made:
        if not (session.folder / name).exists():
            session.bash(f"graphkit {arguments} {name}", checkout=False, limit=60)


class Words:
    """Checks that the subcommands, options and files that a command names are there."""

    def __init__(self, graphkit: pathlib.Path):
        self.graphkit, self.helps = graphkit, {}
        self.subcommands = set(re.findall(r"^  ([a-z]+) ", self.help(), re.MULTILINE))

    def help(self, *subcommand: str) -> str:
        if subcommand not in self.helps:
            done = subprocess.run([self.graphkit, *subcommand, "--help"], stdout=subprocess.PIPE, check=True)
            self.helps[subcommand] = done.stdout.decode()
        return self.helps[subcommand]

    def missing(self, command: str) -> str:
        """The words that aren't there; empty: none."""
        for call in re.findall(r"(?<![\w-])graphkit ([^|&;<>`]*)", re.sub(r"\s#.*", "", command)):
            subcommand, *words = re.sub(r"'[^']*'|\"[^\"]*\"", "x", call).split() or [""]
            if subcommand not in self.subcommands:
                if re.fullmatch(r"[a-z]+", subcommand):
                    return f"graphkit has no subcommand {subcommand}"
                continue
            for number, word in enumerate(words):
                if subcommand == "trace" and not word.startswith("-") and words[number - 1:number] not in (["-o"], ["--scope"], ["--device"]):
                    break  # the program, and its options
                option = word.split("=")[0]
                if option.startswith("-") and option.strip("-") and not re.search(rf"(?<![\w-]){option}(?![\w-])", self.help(subcommand)):
                    return f"graphkit {subcommand} has no option {option}"
        for name in re.findall(r"(?<![\w./-])(?:\./)?((?:tools|tests|testdata|plugins|docs|libgraphkit)/[\w./-]*[\w-])", command):
            if not (SOURCE / name).exists():
                return f"there is no {name}"
        return ""


class Run:
    def __init__(self, build: pathlib.Path, quick: bool, path: list[pathlib.Path]):
        self.build, self.quick, self.path = build, quick, path
        self.words = Words(build / "bin/graphkit")
        self.passed = self.compared = 0
        self.failed: list[str] = []
        self.skipped: list[str] = []

    def why_not(self, step: pages.Step, session: Session, page: str) -> str:
        if "graphkit trace" in (SOURCE / page).read_text() and not (self.build / EXAMPLE).exists():
            return f"build/{EXAMPLE} isn't there: {MAKES_EXAMPLES}"
        whole = not self.quick and page in WHOLE
        if step.language == "python" and page not in WHOLE:
            return "a part of the reader's program"
        if step.language == "python":
            return "takes long" if self.quick else ""
        for pattern, why in NOT_RUN:
            if re.search(pattern, session.with_program(step.text)):
                return why
        if not whole and SLOW.match(re.sub(r"^(?:[A-Z_]+=\S+ )*", "", step.text)):
            return "takes long"
        return self.no_program(step.text, session)

    def no_program(self, command: str, session: Session) -> str:
        for part in re.sub(r"'[^']*'|\s#.*", "", command).split("|"):
            program = part.split()[0] if part.split() else ""
            if program in ("dot", "jq", "nvcc") and not shutil.which(program, path=session.environment["PATH"]):
                return f"needs {program}"
        return ""

    def page(self, file: pathlib.Path) -> None:
        name = str(file.relative_to(SOURCE))
        try:
            steps = pages.steps(file.read_text())
        except pages.PageError as error:
            self.failed.append(f"{name}: {error}")
            return
        if not steps:
            return
        with tempfile.TemporaryDirectory(prefix="graphkit-docs-") as made:
            folder = pathlib.Path(os.path.realpath(made))
            make_folder(folder, name, self.build)
            session = Session(folder, self.path, self.build)
            for step in steps:
                self.step(step, f"{name}:{step.line}", session)

    def step(self, step: pages.Step, where: str, session: Session) -> None:
        label, page = f"{where}: {step.text.splitlines()[0]}", where.split(":")[0]
        wrong = self.words.missing(step.text) if step.language == "bash" else ""
        why = "" if wrong else self.why_not(step, session, page)
        if why:
            self.skipped.append(f"{label}\n    {why}")
            return
        wrong = wrong or self.result(step, session, page)
        if wrong:
            self.failed.append(f"{label}\n    {wrong}")
        else:
            self.passed += 1

    def result(self, step: pages.Step, session: Session, page: str) -> str:
        """The error; empty: none."""
        limit = 120 if self.quick else 1800
        if step.language == "python":
            code, output = session.python(step.text, page, limit)
        else:
            make_inputs(session, step.text)
            command = re.sub(r"^(?:[A-Z_]+=\S+ )*", "", step.text)
            code, output = session.bash(step.text, IN_CHECKOUT.match(command) is not None, limit)
        allowed = (0, 1, 3) if " is incomplete: " in output else (0, 1)
        if code not in (allowed if VERDICTS.search(step.text) else (0,)):
            return f"exit {code}: " + "\n    ".join(output.strip().splitlines()[-12:])
        printed = [line for line in output.split("\n") if not TALK.fullmatch(line)]
        if not any(line.strip() for line in step.shown):
            return ""
        self.compared += 1
        return pages.difference(step.shown, printed)

    def report(self) -> None:
        for title, lines in (("skipped", self.skipped), ("FAILED", self.failed)):
            for line in lines:
                print(f"{title}: {line}")
        print(f"\n{self.compared} of them with the output that is shown")
        print(f"docs: {self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")


def install(folder: pathlib.Path, wheel: pathlib.Path | None) -> pathlib.Path:
    """The wheel, in a virtual environment: where its programs are."""
    if wheel is None:
        built = subprocess.run([SOURCE / "tools/wheel.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout
        wheel = SOURCE / built.split()[-1]
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", wheel, "pytest"], check=True)
    return folder / "bin"


def compiler(build: pathlib.Path) -> list[pathlib.Path]:
    """Where the nvcc is that the build uses: a reader of its commands has one on the PATH."""
    rules = build / "build.ninja"
    found = re.search(r"(\S+)/nvcc ", rules.read_text()) if rules.exists() else None
    return [pathlib.Path(found[1])] if found else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--wheel", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--third", type=int, choices=range(3), metavar="N")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    arguments = parser.parse_args()
    chosen = [SOURCE / page for page in arguments.pages] or pages.pages(SOURCE)[arguments.third:: 1 if arguments.third is None else 3]
    with tempfile.TemporaryDirectory(prefix="graphkit-docs-") as made:
        folder = pathlib.Path(made)
        (folder / "python").symlink_to(sys.executable)  # some systems have a python3 alone
        path = [arguments.build.resolve() / "bin", folder, *compiler(arguments.build)]
        if not arguments.quick and not (arguments.build / EXAMPLE).exists():
            sys.exit(f"run_docs: {arguments.build / EXAMPLE} isn't there, which nearly all pages trace: {MAKES_EXAMPLES}")
        if not arguments.quick:
            path.insert(0, install(folder / "venv", arguments.wheel))
        run = Run(arguments.build.resolve(), arguments.quick, path)
        for page in chosen:
            run.page(page)
    run.report()
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main())
