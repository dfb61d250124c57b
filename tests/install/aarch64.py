"""The wheel for aarch64 under an emulator: every file of testdata gives the same bytes and exit codes as this machine's
graphkit, the libraries of the wheel can be opened, and a trace without a GPU ends with one line.

    aarch64.py --wheel WHEEL --graphkit BINARY --tools FOLDER --testdata FOLDER --out FOLDER [FILE...]

--tools is what `tools/setup.sh aarch64` made. The last line counts: "aarch64: N passed, M failed".
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zipfile

TIMEOUT_S = 600
EM_AARCH64 = 183
COMMANDS = [[], ["analyze", "--format", "json"], ["check", "--format", "json"], ["plan", "--format", "json"],
            ["replay", "--format", "json"], ["dot"]]
# Folders of testdata without inputs of graphkit, and a file whose plan takes minutes when emulated.
LEFT_OUT = {"clients", "schemas", "workloads", "sarif"}
TOO_SLOW = {"iopddl_S_1.csv"}
SECONDS = re.compile(rb'"seconds": [0-9.e+-]+')
PROGRESS = re.compile("^graphkit: [a-z]+ing .* …\\n".encode(), re.MULTILINE)

# Opens each library of its arguments but the first, and asks the first, the Python package's, for the analysis of a file.
PROGRAM = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

struct Answer { char* data; uint64_t size; int32_t failed; };

int main(int count, char** words) {
  for (int i = 3; i < count; ++i) {
    if (dlopen(words[i], RTLD_NOW) == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  }
  void* library = dlopen(words[1], RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  void* (*load)(const char* const*, uint64_t, const char*, struct Answer*) = dlsym(library, "graphkit_load");
  void (*ask)(const void*, const char*, struct Answer*) = dlsym(library, "graphkit_ask");
  const char* path = words[2];
  struct Answer answer = {0};
  void* trace = load(&path, 1, "", &answer);
  if (trace != NULL) ask(trace, "{\"about\":\"analyze\",\"checks\":[],\"min_bytes\":0,\"launch_edges\":false}", &answer);
  fwrite(answer.data, 1, answer.size, stdout);
  return answer.failed;
}
"""


class Graphkit:
    """A graphkit, of this machine or emulated."""

    def __init__(self, command, folder):
        self.command, self.folder = command, folder

    def run(self, words):
        """Exit code, stdout without measured times, and stderr without the progress that slow commands print."""
        done = subprocess.run([*self.command, *words], cwd=self.folder, capture_output=True, timeout=TIMEOUT_S, check=False,
                              env={**os.environ, "COLUMNS": "100"})
        return done.returncode, SECONDS.sub(b"", done.stdout), PROGRESS.sub(b"", done.stderr)


def inputs(testdata):
    files = [path for path in sorted(testdata.rglob("*")) if path.is_file()]
    return [path.relative_to(testdata) for path in files
            if path.suffix not in (".md", ".py", ".cmake", ".txt") and path.name not in {"LICENSE", *TOO_SLOW}
            and path.relative_to(testdata).parts[0] not in LEFT_OUT]


def first_difference(here, there):
    """Where two (exit code, stdout, stderr) differ, in a line."""
    for name, one, other in zip(("exit code", "stdout", "stderr"), here, there):
        if one == other:
            continue
        if name == "exit code":
            return f"exit code {one} here, {other} on aarch64: {there[2].decode(errors='replace')[-300:]}"
        for number, (left, right) in enumerate(zip(one.split(b"\n"), other.split(b"\n")), 1):
            if left != right:
                at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
                begin = max(0, at - 60)
                return f"{name}, line {number}, byte {at}:\n    {left[begin:at + 60]!r}\n    {right[begin:at + 60]!r}"
        return f"{name}: {len(one)} bytes here, {len(other)} on aarch64"
    return None


def compare_file(here, there, file):
    """The differences of a file, a line each, and the number of commands compared."""
    found = []
    for command in COMMANDS:
        words = [*command[:1], str(file), *command[1:]]
        difference = first_difference(here.run(words), there.run(words))
        if difference is not None:
            found.append(f"graphkit {' '.join(words)}: {difference}")
    return found, len(COMMANDS)


def is_elf(data):
    return data[:4] == b"\x7fELF"


def check_machine(folder):
    """Every program and library of the wheel is for aarch64."""
    elves = [path for path in folder.rglob("*") if path.is_file() and is_elf(path.open("rb").read(4))]
    wrong = [str(path) for path in elves if struct.unpack_from("<H", path.read_bytes(), 18)[0] != EM_AARCH64]
    if not elves or wrong:
        return [f"not for aarch64: {', '.join(wrong) or 'nothing is in the wheel'}"]
    return []


def check_libraries(options, unpacked, here, there):
    """The plugins' symbols are all found, and the Python package's library answers as the command does."""
    program, source = options.out / "ask", options.out / "ask.c"
    source.write_text(PROGRAM)
    subprocess.run([options.tools / "bin/aarch64-linux-gnu-gcc", f"--sysroot={options.tools}/sysroot", source, "-o", program],
                   check=True)
    plugins = sorted(unpacked.glob("*/lib/graphkit/*.so"))
    if len(plugins) != 3:
        return [f"{len(plugins)} plugins in the wheel, expected 3: {plugins}"]
    trace = "traces/soft/record_stream.json"
    command = Graphkit([*there.command[:-1], program], there.folder)
    status, answer, errors = command.run([next(unpacked.glob("*/libgraphkit_python.so")), trace, *plugins])
    if status != 0:
        return [f"the libraries of the wheel: {errors.decode()}"]
    wanted = here.run(["analyze", trace, "--format", "json"])[1]
    return [] if answer.strip() == wanted.strip() else ["the Python package's analysis isn't the command's"]


def check_trace(there, out):
    """Without a GPU nothing can be traced: the package goes without the software device, and a line reports it."""
    status, _, errors = there.run(["trace", "-o", out / "trace.json", "/bin/true"])
    lines = errors.decode().splitlines()
    wanted = "the software device is missing"
    if status == 0 or not any(wanted in line for line in lines) or "x86-64" not in errors.decode():
        return [f"graphkit trace without a GPU: exit {status}, stderr {lines}"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--wheel", "--graphkit", "--tools", "--testdata", "--out"):
        parser.add_argument(option, type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="of testdata (default: all)")
    options = parser.parse_args()
    unpacked = options.out / "wheel"
    shutil.rmtree(options.out, ignore_errors=True)
    unpacked.mkdir(parents=True)
    with zipfile.ZipFile(options.wheel) as wheel:
        wheel.extractall(unpacked)
    program = next(unpacked.glob("*/bin/graphkit"))
    program.chmod(0o755)
    here = Graphkit([options.graphkit], options.testdata)
    there = Graphkit([options.tools / "bin/qemu-aarch64", program], options.testdata)
    failed, passed = 0, 0
    for lines in (check_machine(unpacked), check_libraries(options, unpacked, here, there), check_trace(there, options.out)):
        passed, failed = passed + (not lines), failed + bool(lines)
        print(*lines, sep="\n", end="\n" if lines else "")
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        files = options.files or inputs(options.testdata)
        for lines, count in pool.map(lambda file: compare_file(here, there, file), files):
            passed, failed = passed + count - len(lines), failed + len(lines)
            for line in lines:
                print(line, flush=True)
    print(f"aarch64: {passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
