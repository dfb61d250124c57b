"""The measured device memory of execs, compared with that of the software device's model
(plugins/soft_cuda/model/exec_memory.h)."""

import json
import subprocess

from harness import BUILD, Skipped, load, trace

MODEL = {"exec": 96 << 10, "kernel_node": (12 << 10) * 5 / 4, "copy_node": (6 << 10) * 5 / 4, "other_node": 0}
SHAPES = [(200, 0), (50, 50), (10, 200), (400, 20), (1, 0)]
CHUNK = 2 << 20


def measure(folder, *words, options=("--measure-execs",)):
    program = BUILD / "tests/measured"
    if not program.exists():
        raise Skipped("no nvcc")
    code, _, errors = trace(folder, program, *words, options=options)
    assert code == 0, errors
    analyze = [BUILD / "bin/graphkit", "analyze", "--format", "json", "trace.json"]
    report = json.loads(subprocess.run(analyze, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return [r for r in load(folder / "trace.json") if r["type"] == "exec_memory"], report["exec_memory"]


def test_measured_execs_are_the_devices_model(folder):
    readings, memory = measure(folder)
    calls = [r["call"] for r in readings]
    assert {call: calls.count(call) for call in calls} == {"instantiate": 200, "upload": 100, "launch": 200}
    assert not any(r.get("disturbed") for r in readings)
    taken = sum(r["before"] - r["after"] for r in readings)
    real = 40 * sum(MODEL["exec"] + k * MODEL["kernel_node"] + c * MODEL["copy_node"] for k, c in SHAPES)
    assert 0 <= taken - real < CHUNK, (taken, real)  # of what was taken, in whole chunks
    assert memory["source"] == "measured" and memory["execs_at_peak"] == 200
    assert memory["low"] <= real <= memory["high"], (memory, real)
    for part, value in MODEL.items():
        model = memory["model"][part]
        assert model["low"] <= value <= model["high"], (part, model)
    assert abs(memory["model"]["kernel_node"]["bytes"] / MODEL["kernel_node"] - 1) < 0.1, memory["model"]


def test_readings_beside_other_allocations_are_not_used(folder):
    readings, memory = measure(folder, "noisy")
    disturbed = sum(r.get("disturbed", False) for r in readings)
    assert memory["readings"] == len(readings), (memory, len(readings))
    assert memory["disturbed_readings"] >= disturbed > 0, (memory, disturbed)


def test_nothing_is_measured_unasked(folder):
    readings, memory = measure(folder, options=())
    assert readings == [] and memory["source"] == "estimated" and memory["model"]["measured_execs"] == 0
