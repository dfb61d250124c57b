"""Call stacks, of C++ and of Python."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import BUILD, Skipped, count, fork_join, load, processes, sanitized, sanitizer, trace


def test_call_stacks_name_the_programs_functions(folder):
    code, _, err = trace(folder, *fork_join())
    assert code == 0, err
    records = load(folder / "trace.json")
    stacks = [r["frames"] for r in records if r["type"] == "stack"]
    # A sanitizer's runtime, loaded in between, has places whose lines nothing knows.
    assert sanitized() or len(stacks) == len({json.dumps(s) for s in stacks}), "a stack is written twice"
    nodes = [r for r in records if r["type"] == "node"]
    assert all("stack" in n for n in nodes), nodes
    frames = stacks[nodes[2]["stack"]]
    assert frames[-1][0] == "main" and any("Capture(" in f[0] for f in frames), frames
    assert all("libcu" not in f[1] for f in frames), frames
    # Functions that were inlined would be added where something can look them up.
    trace(folder, *fork_join(), options=["--stacks=1"], env={"PATH": str(folder)})
    records = load(folder / "trace.json")
    assert {len(r["frames"]) for r in records if r["type"] == "stack"} == {1}
    trace(folder, *fork_join(), options=["--no-stacks"])
    assert count(load(folder / "trace.json"), "stack") == 0


def test_a_program_without_source_lines_is_said_once(folder):
    program = folder / "step"
    shutil.copy(BUILD / "workloads/fork_join", program)
    subprocess.run(["strip", "--strip-debug", program], check=True)
    err = trace(folder, program, "--loop", "3")[2]
    assert err.count("no source lines in step: compile it with -g") == 1, err
    assert "no source lines" not in trace(folder, *fork_join())[2]


def check_source_lines(folder, program):
    source = pathlib.Path(__file__).parent / "lines.cu"
    line = {text.split("// ")[1]: at for at, text in enumerate(source.read_text().split("\n"), 1) if ";  // " in text}
    code, _, err = trace(folder, program)
    assert code == 0, err
    records = load(folder / "trace.json")
    assert all("places" not in record for record in records)
    stacks = [r["frames"] for r in records if r["type"] == "stack"]
    own = [[frame[2] for frame in stack if frame[1].endswith("lines.cu")] for stack in stacks]
    launches = [own[r["stack"]] for r in records if r["type"] == "node"]
    assert launches == [[line["launch"], line[call], line["forward"]] for call in ("first", "second")], launches
    assert [own[r["stack"]] for r in records if r["type"] == "alloc"] == [[line["malloc"]], [line["piece"]]], stacks
    assert [own[r["stack"]] for r in records if r["type"] == "free"][0] == [line["back"]], stacks
    replays = [own[r["stack"]] for r in records if r["type"] == "launch"]
    assert replays == [[line["replay"]], [line["again"]]], replays
    assert not any("Touch" in frame[0] for stack in stacks for frame in stack), stacks


def test_calls_have_source_lines_where_the_program_knows_them(folder):
    if shutil.which("addr2line") is None and shutil.which("llvm-addr2line") is None:
        raise Skipped("no addr2line here")
    if not (BUILD / "tests/lines_O0").exists():
        raise Skipped("no nvcc (tools/setup.sh test)")
    for level in ("0", "2"):
        check_source_lines(folder, BUILD / f"tests/lines_O{level}")


def test_places_stay_where_nothing_can_look_them_up(folder):
    if not (BUILD / "tests/lines_O0").exists():
        raise Skipped("no nvcc (tools/setup.sh test)")
    code, _, err = trace(folder, BUILD / "tests/lines_O0", env={"PATH": str(folder)})
    assert code == 0 and "install addr2line" in err, err
    stacks = [r for r in load(folder / "trace.json") if r["type"] == "stack"]
    assert all(len(s["places"]) == len(s["frames"]) for s in stacks), stacks


PYTHON = """
import ctypes

cuda = ctypes.CDLL("libcudart.so.13")  # gives up the interpreter's lock around calls


def check(error):
    assert error == 0, error


class Möbius:
    def fill(self, stream, data):
        check(cuda.cudaMemsetAsync(data, 0, ctypes.c_size_t(64),
                                   stream))


data, stream, graph = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(cuda.cudaMalloc(ctypes.byref(data), ctypes.c_size_t(64)))
check(cuda.cudaStreamCreate(ctypes.byref(stream)))
check(cuda.cudaStreamBeginCapture(stream, 2))
list(map(lambda n: Möbius().fill(stream, data), range(2)))
check(cuda.cudaStreamEndCapture(stream, ctypes.byref(graph)))
"""


def runs(python):
    return subprocess.run([python, "-c", "import ctypes"], capture_output=True, check=False).returncode == 0


def interpreter(version):
    """That Python: this one, one that GRAPHKIT_TEST_PYTHONS (separated by colons) names, one on PATH, one of pyenv's."""
    if sys.version_info[:2] == version:
        return sys.executable
    name = "python" + ".".join(map(str, version))
    named = [path for path in os.environ.get("GRAPHKIT_TEST_PYTHONS", "").split(":") if path.endswith(name)]
    others = sorted(map(str, pathlib.Path.home().glob(f".pyenv/versions/*/bin/{name}")))
    found = next((path for path in [*named, shutil.which(name), *others] if path and runs(path)), None)
    if found is None:
        raise Skipped(f"no {name} here (GRAPHKIT_TEST_PYTHONS)")
    return found


def check_functions_of_python(folder, python):
    script = folder / "capture.py"
    script.write_text(PYTHON)
    line = {text.strip(): at for at, text in enumerate(PYTHON.split("\n"), 1)}
    for depth in ("64", "2"):
        code, _, err = trace(folder, python, script, options=["--stacks=" + depth])
        assert code == 0, err
        records = load(folder / "trace.json")
        stacks = [r["frames"] for r in records if r["type"] == "stack"]
        fills = [stacks[r["stack"]] for r in records if r["type"] == "node"]
        assert len(fills) == 2 and fills[0] == fills[1], fills
        frames = [tuple(f) for f in fills[0] if f[1] == str(script)]
        assert frames == [
            ("Möbius.fill", str(script), line["check(cuda.cudaMemsetAsync(data, 0, ctypes.c_size_t(64),"]),
            ("<lambda>", str(script), line["list(map(lambda n: Möbius().fill(stream, data), range(2)))"]),
            ("<module>", str(script), line["list(map(lambda n: Möbius().fill(stream, data), range(2)))"]),
        ][:len(frames)], fills[0]
        assert len(frames) == 3 or depth == "2", fills[0]
        assert not any("_PyEval" in f[0] or re.search(r"/python3\.\d+$", f[1]) for f in fills[0]), fills[0]


def test_failures_have_the_programs_line_below_many_frames_of_a_framework(folder):
    script = folder / "deep.py"
    script.write_text(PYTHON.split("class Möbius")[0] + """
def layer(n):
    return layer(n - 1) if n else cuda.cudaStreamSynchronize(stream)


stream = ctypes.c_void_p()
check(cuda.cudaStreamCreate(ctypes.byref(stream)))
check(cuda.cudaStreamBeginCapture(stream, 0))
layer(60)
""")
    code, _, err = trace(folder, interpreter((3, 11)), script)
    assert code == 0, err
    records = load(folder / "trace.json")
    stacks = [r["frames"] for r in records if r["type"] == "stack"]
    failure = next(r for r in records if r["type"] == "failure")
    names = [frame[0] for frame in stacks[failure["stack"]] if frame[1] == str(script)]
    assert names == ["layer"] * 61 + ["<module>"], names


def test_call_stacks_have_the_functions_of_python_3_11(folder):
    check_functions_of_python(folder, interpreter((3, 11)))


def test_call_stacks_have_the_functions_of_python_3_12(folder):
    check_functions_of_python(folder, interpreter((3, 12)))


def test_call_stacks_have_the_functions_of_python_3_13(folder):
    check_functions_of_python(folder, interpreter((3, 13)))


def test_a_python_that_is_not_known_is_said_and_does_no_harm(folder):
    # The library has a Py_GetVersion, which says 3.99.0.
    library = next((BUILD / "tests").glob("libtracer_closed_library.*"))
    capture = ["env", f"LD_PRELOAD={sanitizer()}:{library}", *processes("capture")]
    code, _, err = trace(folder, *capture, options=["--stacks"])
    assert code == 0 and err.count("the frames of Python 3.99.0 aren't known") == 1, (code, err)
    records = load(folder / "trace.json")
    frames = [frame[0] for r in records if r["type"] == "stack" for frame in r["frames"]]
    assert "main" in frames, records
    assert "Python" not in trace(folder, *capture)[2]
