"""cudagraphkit.trace(), with a stand-in for PyTorch on the software device."""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import FAKE_TORCH, python_path

MIB = 1 << 20


def run(program, **env):
    """In a process of its own: PyTorch's memory history is one for the whole process."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": python_path(FAKE_TORCH), **env})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_figures_are_of_what_was_allocated_inside(torch):
    out = run("""
        import cudagraphkit, torch
        before = torch.empty(16 << 20)
        with cudagraphkit.trace() as recording:
            a, b = torch.empty(2 << 20), torch.empty(3 << 20)
            del before, a
            c = torch.empty(1 << 20)
        print(recording.peak_bytes, recording.deferred_bytes, recording.leaked_bytes, recording.leaked_blocks)
    """)
    assert out == [str(5 * MIB), "0", str(4 * MIB), "2"]


def test_the_trace_has_graphs_and_stacks_and_is_written(torch, tmp_path):
    path = tmp_path / "step.json"
    out = run(f"""
        import cudagraphkit, torch
        def forward():
            return torch.empty(4 << 20)
        with cudagraphkit.trace({str(path)!r}) as recording:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                kept = forward()
        trace = cudagraphkit.load({str(path)!r})
        block = recording.leaked[0]
        print(len(trace.graphs), block["graph"], trace.stacks[block["stack"]][0][0], trace.complete, trace.path)
    """)
    assert out == ["1", "0", "forward", "True", str(path)]


def test_several_recordings_of_a_process_are_each_complete(torch):
    out = run("""
        import cudagraphkit, torch
        kept = []
        for size in (1, 2, 3):
            with cudagraphkit.trace() as recording:
                kept.append(torch.empty(size << 20))
            print(recording.peak_bytes >> 20, recording.leaked_blocks, recording.trace.complete)
    """)
    assert out == ["1", "1", "True", "2", "1", "True", "3", "1", "True"]


def test_without_torch_it_is_an_error():
    pytest.importorskip("cudagraphkit")
    if "torch" in sys.modules:
        pytest.skip("there is a torch here")
    import cudagraphkit

    with pytest.raises(cudagraphkit.Error, match="there is no torch here"):
        with cudagraphkit.trace():
            pass


def test_a_recording_leaves_no_exception_at_exit(torch):
    done = subprocess.run([sys.executable, "-c", "import cudagraphkit, torch\nwith cudagraphkit.trace() as recording:\n    kept = torch.empty(512)\n"],
                          capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": python_path(FAKE_TORCH)})
    assert (done.returncode, done.stderr) == (0, "")


def test_lines_say_who_has_the_memory(torch, tmp_path):
    program = tmp_path / "step.py"
    program.write_text("import cudagraphkit, torch\n"
                       "with cudagraphkit.trace() as recording:\n"
                       "    a = torch.empty(2 << 20)\n"
                       "    b = [torch.empty(3 << 20) for _ in range(2)]\n"
                       "    del a\n"
                       "print(recording.lines_of(recording.at_peak), '|', recording.lines_of(recording.leaked), '|', recording)\n")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": python_path(FAKE_TORCH)})
    at_peak, leaked, shown = (text.strip() for text in done.stdout.split("|"))
    place = f"{tmp_path.name}/step.py"
    assert at_peak == f"6 MiB at {place}:4, 2 MiB at {place}:3", done.stderr
    assert leaked == f"6 MiB at {place}:4"
    assert shown == "<cudagraphkit.Recording: peak 8 MiB, 2 blocks leaked>"
