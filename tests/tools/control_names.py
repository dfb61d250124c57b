"""Names of files and bytes of input never reach a terminal as control characters, whatever the command.

    control_names.py --graphkit BINARY --testdata FOLDER
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

NAME = "a\x1b]0;title\x07\x1b[31m\n\u202eb"
# Its characters that change the direction of text are kept in JSON, where they are data.
COMMANDS = [[], ["analyze"], ["check"], ["replay"], ["plan"], ["dot"], ["export"],
            ["estimate"], ["import"], ["report", "-o", "report.html"], ["check", "--format", "junit"],
            ["check", "--format", "markdown"], ["check", "--config"], ["check", "--baseline"], ["analyze", "--coverage"],
            ["trace", "--device", "soft"], ["help"], ["replay", "--allocator"], ["replay", "--execute", "soft"], ["replay", "--against-recorded"], ["survive"], ["plan", "--trade"], ["import", "-"], ["where", "0x10", "--from"], ["export", "--format", "csv"]]


def inputs(testdata):
    """File by ending: a trace, damaged headers and cells, a folder."""
    trace = (testdata / "nccl-traces/rank0.json").read_bytes()
    yield NAME + ".json", trace
    yield NAME + "header.json", b'{"schema":"graph\x1b[31mkit","version":1}\n'
    yield NAME + "record.json", trace.split(b"\n")[0] + b'\n{"type":"node","id":"\x1b[2J"},\n'
    yield NAME + ".csv", b"id,lo\x1bwer,upper,size\n1,2,3,\x1b[31m4\n"
    yield NAME + ".pickle", b"\x80\x04\x1b[2J"


def controls(text):
    return [c for c in text if (ord(c) < 0x20 and c != "\n") or 0x7f <= ord(c) < 0xa0 or c == "\u202e"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphkit", type=pathlib.Path, required=True)
    parser.add_argument("--testdata", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        names = [NAME]
        (folder / NAME).mkdir()
        for name, content in inputs(arguments.testdata):
            (folder / name).write_bytes(content)
            names.append(name)
        shutil.copy(folder / (NAME + ".json"), folder / NAME / (NAME + ".json"))
        for name in names:
            for command in COMMANDS:
                done = subprocess.run([arguments.graphkit.resolve(), *command, name], cwd=folder, capture_output=True, timeout=120,
                                      check=False)
                for what in (done.stdout, done.stderr):
                    found = controls(what.decode("utf-8", "replace"))
                    if found:
                        failed += 1
                        print(f"graphkit {' '.join(command)} {ascii(name)}: {ascii(found)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
