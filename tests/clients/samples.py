"""Builds NVIDIA's CUDA samples as nvcc does by default and runs them under `graphkit trace`, without a GPU.

    samples.py --build FOLDER --samples FOLDER [SAMPLE...]

The folder of the samples is a checkout of NVIDIA's public repository; where there is none, it is cloned, and where that can't be,
nothing is run, and that is said. samples.txt has what each sample is expected to do: a sample passes when it does that
and its trace is read as a whole one. Programs are kept in FOLDER/built between runs.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
PARSER.add_argument("--samples", type=pathlib.Path, required=True)
PARSER.add_argument("names", nargs="*", metavar="SAMPLE")
OPTIONS = PARSER.parse_args()
ADDRESS = "https://github.com/NVIDIA/cuda-samples"
GRAPHKIT = OPTIONS.build.resolve() / "bin/graphkit"
SOFT = OPTIONS.build.resolve() / "lib/graphkit/soft_cuda"
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
LIMIT_S = 300


class Failed(Exception):
    """A failure, in a line."""


def skip(why):
    print(f"skipped: {why}\nsamples: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def rows():
    """(folder, expected, a pattern of what it prints) of each line of samples.txt."""
    for line in pathlib.Path(__file__).with_name("samples.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield (*line.split(None, 2), "")[:3]


def compiled(source, built):
    """The program of a sample: sources and libraries of its CMakeLists.txt, for one device, nvcc's defaults else."""
    text = re.sub(r"#.*", "", (source / "CMakeLists.txt").read_text(encoding="utf-8"))
    name, files = re.search(r"add_executable\((\S+)\s+([^)]*)\)", text).groups()
    program = built / name
    if program.exists():
        return program
    built.mkdir(parents=True, exist_ok=True)
    if (source / "data").exists() and not (built / "data").exists():
        (built / "data").symlink_to((source / "data").resolve())
    libraries = sorted(set(re.findall(r"CUDA::(\w+)", text)) - {"cuda_driver", "cudart", "cudart_static"})
    words = [NVCC, "-arch=sm_90", "-std=c++17", "--extended-lambda", "-w", f"-I{source / '../../../Common'}", f"-I{source / 'inc'}"]
    command = words + [source / file for file in files.split()] + ["-o", program]
    command += ["-rdc=true"] if "CUDA_SEPARABLE_COMPILATION ON" in text else []
    command += ["-Xcompiler", "-fopenmp"] if "OpenMP" in text else []
    command += [f"-l{library}" for library in libraries] + ["-lrt", "-ldl", "-Xlinker", SOFT / "libcuda.so.1"]
    commands = [words + [f"-{kind}", file, "-o", built / image] for image, kind, file in images(text, source)] + [command]
    for each in commands:
        done = subprocess.run(list(map(str, each)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"does not build: {(done.stderr or done.stdout).strip().splitlines()[0][:200]}")
    return program


def images(text, source):
    """The files that a driver program loads: (file, fatbin or ptx, its source)."""
    names = re.findall(r'_FILE\s+"\$\{CMAKE_CURRENT_BINARY_DIR\}/([^"]+\.(fatbin|ptx))"', text)
    sources = re.findall(r'KERNEL_SOURCE\s+"\$\{CMAKE_CURRENT_SOURCE_DIR\}/([^"]+)"', text)
    return [(name, kind, source / file) for (name, kind), file in zip(names, sources)]


def ran(program, trace):
    """Its exit code, and its output but for the middle of a long one: some samples print a line for each value that differs."""
    command = f'"{GRAPHKIT}" trace --device soft -o "{trace}" -- "./{program.name}" 2>&1 | {{ head -c 1000000; tail -c 10000; }}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], cwd=program.parent, capture_output=True, text=True, timeout=LIMIT_S, errors="replace",
                          env={**os.environ, "GRAPHKIT_SOFT_DEVICES": "2"})
    return done.returncode, done.stdout + done.stderr


def check(folder, expected, pattern):
    program = compiled(OPTIONS.samples / "Samples" / folder, OPTIONS.samples / "built" / folder)
    with tempfile.TemporaryDirectory() as place:
        trace = pathlib.Path(place, "trace.json")
        code, said = ran(program, trace)
        (program.parent / "output.txt").write_text(said, encoding="utf-8")
        if (code == 0) != (expected == "ends") or 128 < code < 192:  # a signal
            raise Failed(f"ended with {code}: {said.strip().splitlines()[-1][:200]}")
        if not re.search(pattern, said):
            raise Failed(f"did not print '{pattern}'")
        return recorded(trace)


def recorded(trace):
    if not trace.exists():
        return "nothing was recorded"
    done = subprocess.run([GRAPHKIT, "analyze", "--format", "json", trace], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"analyze ended with {done.returncode}: {done.stderr.strip()[:200]}")
    report = json.loads(done.stdout)
    return f"{report['totals']['graphs']} graphs, {report['totals']['nodes']} nodes"


def main():
    passed = failed = 0
    if not pathlib.Path(NVCC).exists():
        skip("no nvcc")
    if not OPTIONS.samples.exists():
        if subprocess.run(["git", "clone", "-q", "--depth", "1", ADDRESS, OPTIONS.samples]).returncode != 0:
            skip(f"no samples in {OPTIONS.samples}, and {ADDRESS} can't be reached")
    for folder, expected, pattern in rows():
        if OPTIONS.names and folder.split("/")[-1] not in OPTIONS.names:
            continue
        try:
            told, word = f"{expected}, {check(folder, expected, pattern)}", "passed"
            passed += 1
        except (Failed, subprocess.TimeoutExpired) as error:
            told, word = str(error), "FAILED"
            failed += 1
        print(f"{word} samples {folder}: {told}", flush=True)
    print(f"samples: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
