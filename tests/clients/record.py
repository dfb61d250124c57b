"""Records what the tests read of programs of PyTorch without PyTorch: of each run the trace and the memory snapshot in it.

    record.py --build BUILD --python PYTHON [--device soft|cuda] --out FOLDER PROGRAM...

A program that knows the argument `fixed` is run again with it (verdicts.py). Those of several processes are left out. Writes NAME.json.zst and NAME.pickle.zst, of
the twin NAME.fixed.…; folders of the machine are taken out of the paths, what is in the packages is kept. With `--device cuda`
it records on the GPU that is there, to be compared by recorded.py.
"""

import argparse
import os
import pathlib
import pickle
import re
import subprocess
import tempfile

from verdicts import heading, processes, variants

FOLDERS = [(r"[^\"]*/site-packages/", "/venv/lib/python3/site-packages/"), (r"[^\"]*/soft_cuda/", "/graphkit/soft_cuda/"),
           (r"[^\"]*/bin/python[^\"]*", "/venv/bin/python"), (r"[^\"]*/lib/python3\.[0-9]+/", "/usr/lib/python3.11/"),
           (r"[^\"]*/torch_hook/", "/graphkit/torch_hook/"), (r"[^\"]*/\.triton/", "/venv/.triton/"), (r"[^\"]*/(?:tests/clients/torch|testdata/clients)/", "")]


def without_folders(path):
    for pattern, instead in FOLDERS:
        path = re.sub("^" + pattern, lambda _, instead=instead: instead, path)
    return path


def clean(value, seen):
    """A snapshot with its files renamed; equal texts are one object, so that a file holds each once."""
    if isinstance(value, str):
        return seen.setdefault(value, without_folders(value))
    if isinstance(value, dict):
        return {seen.setdefault(key, key): clean(item, seen) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(clean(item, seen) for item in value)
    return value


def pack(path, out):
    subprocess.run(["zstd", "-19", "-q", "-f", path, "-o", out], check=True)


def record(program, fixed, options, folder):
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache"}
    trace = pathlib.Path(folder, "trace.json")
    words = [options.build.resolve() / "bin/graphkit", "trace", "--device", options.device, *(heading(program, "options") or [])]
    words += ["-o", trace, "--", options.python, program.resolve()] + (["fixed"] if fixed else [])
    for _ in range(2 if "torch.compile" in program.read_text(encoding="utf-8") else 1):  # the second finds what was compiled
        subprocess.run(words, cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)
    name = program.stem + (".fixed" if fixed else "")
    text = trace.read_text(encoding="utf-8").replace(f"{folder}/cache/", "/tmp/torchinductor/")
    trace.write_text(re.sub(r'"([^"\\]*/[^"\\]*)"', lambda path: f'"{without_folders(path[1])}"', text), encoding="utf-8")
    pack(trace, options.out / f"{name}.json.zst")
    for snapshot in pathlib.Path(folder).glob("trace.*.pickle"):
        snapshot.write_bytes(pickle.dumps(clean(pickle.loads(snapshot.read_bytes()), {}), protocol=4))
        pack(snapshot, options.out / f"{name}.pickle.zst")
    print(f"recorded {name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--device", default="soft", choices=["soft", "cuda"])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("programs", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for program in options.programs:
        for fixed in () if processes(program) else variants(program):
            with tempfile.TemporaryDirectory() as folder:
                record(program, fixed, options, folder)


main()
