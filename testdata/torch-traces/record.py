"""Records the traces of this folder again.

    record.py --build BUILD --python PYTHON      of an environment that has PyTorch (docs/clients.md)

Each program of tests/clients/torch that says what it expects is traced on the software device. Folders of the machine are
taken out of the paths; what is in the packages is kept.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parent.parent / "tests/clients/torch"
FOLDERS = [(r'"[^"]*/site-packages/', '"/venv/lib/python3/site-packages/'), (r'"[^"]*/soft_cuda/', '"/graphkit/soft_cuda/'),
           (r'"[^"]*/bin/python[^"]*"', '"/venv/bin/python"'), (r'"[^"]*/lib/python3\.[0-9]+/', '"/usr/lib/python3.11/'),
           (r'"[^"]*/torch_hook/', '"/graphkit/torch_hook/'), (r'"[^"]*/tests/clients/torch/', '"')]


def record(program, graphkit, python, folder):
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache"}
    trace = pathlib.Path(folder, f"{program.stem}.json")
    for _ in range(2):  # the second finds what torch.compile has made
        subprocess.run([graphkit, "trace", "--device", "soft", "-o", trace, "--", python, program], cwd=folder,
                       env=environment, check=True)
    text = trace.read_text(encoding="utf-8").replace(f"{folder}/cache/", "/tmp/torchinductor/")
    for pattern, instead in FOLDERS:
        text = re.sub(pattern, instead, text)
    trace.write_text(text, encoding="utf-8")
    subprocess.run(["zstd", "-19", "-q", "-f", trace, "-o", HERE / f"{program.stem}.json.zst"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    options = parser.parse_args()
    for program in sorted(PROGRAMS.glob("*.py")):
        if "# graphkit: " in program.read_text(encoding="utf-8"):
            with tempfile.TemporaryDirectory() as folder:
                record(program, options.build.resolve() / "bin/graphkit", options.python, folder)


main()
