"""Traces as tables."""

import os
import pickle
import shutil

import cudagraphkit
import numpy as np
import pytest


def test_a_trace_is_tables_of_numbers(testdata):
    trace = cudagraphkit.load(testdata / "traces/soft/fork_join.json")
    assert trace.device == "soft" and trace.complete
    assert trace.nodes.dtype.names[:3] == ("id", "graph", "kind")
    assert list(trace.nodes["id"]) == list(range(len(trace.nodes)))
    assert set(trace.edges["from"]) <= set(trace.nodes["id"])
    with pytest.raises(ValueError, match="read-only"):
        trace.nodes["kind"][0] = 3


def test_dicts_have_words_and_names(testdata):
    nodes = cudagraphkit.load(testdata / "import/trace.json").to_dict("nodes")
    assert nodes["kind"] == ["kernel", "memcpy", "kernel", "memset"]
    assert nodes["kernel_name"] == ["_Z6squarePfi", "", "_Z3addPfS_i", ""]
    assert {len(column) for column in nodes.values()} == {4}, "as pandas.DataFrame wants it"


def test_other_tools_files_are_traces_too(testdata):
    path = testdata / "import/snapshot.pickle"
    trace = cudagraphkit.load(path)
    assert trace.device == "imported"
    blocks = trace.handed_out
    assert len(trace.blocks) == len(blocks) + len(trace.segments)
    assert list(blocks["size"]) == [2 << 20, 4 << 20]
    with path.open("rb") as file:
        events = pickle.load(file)["device_traces"][0]
    assert list(blocks["address"]) == [e["addr"] for e in events if e["action"] == "alloc"]
    assert list(blocks["allocated_ns"]) == [1000 * e["time_us"] for e in events if e["action"] == "alloc"]
    assert list(blocks["free_completed"] >= 0) == [True, False]
    assert trace.stacks[blocks["stack"][0]] == [("forward", "model.py:12")]


def test_files_of_one_process_are_merged(testdata, tmp_path):
    files = [testdata / "import" / name for name in ("trace.json", "snapshot.pickle", "profile.json")]
    merged = cudagraphkit.merge(files)
    assert list(merged.nodes["duration_ns"]) == [5500, 2000, 3250, 0]
    assert list(merged.accesses["block"]) == [1, 1, 2, 0]
    merged.save(tmp_path / "all.json.zst")
    again = cudagraphkit.load(tmp_path / "all.json.zst")
    for name in ("graphs", "nodes", "edges", "accesses", "blocks", "segments", "pools", "execs", "launches"):
        assert np.array_equal(again.table(name), merged.table(name)), name


def test_a_name_in_any_encoding_is_read(testdata, tmp_path):
    path = os.fsencode(tmp_path) + b"/step\xff.json"
    shutil.copy(testdata / "import/trace.json", path)
    assert len(cudagraphkit.load(os.fsdecode(path)).nodes) == 4


def test_a_table_that_is_not_there_is_said(testdata):
    with pytest.raises(cudagraphkit.Error, match="no table 'leaves'"):
        cudagraphkit.load(testdata / "import/trace.json").table("leaves")


def test_findings_are_those_of_the_command_line(testdata):
    trace = cudagraphkit.load(testdata / "traces/soft/leaky.json")
    report = cudagraphkit.analyze(trace)
    assert report["schema"] == "graphkit-analyze"
    assert list(trace.findings["check"]) == [finding["check"] for finding in report["findings"]]
    assert list(trace.to_dict("findings")["message"]) == [finding["message"] for finding in report["findings"]]
    leaks = cudagraphkit.analyze(trace, checks=["exec-leak"])
    assert set(leaks.findings["check"]) == {"exec-leak"}
    assert len(cudagraphkit.analyze(trace, min_bytes="1 GiB").findings) <= len(report.findings)


def test_a_plan_is_no_larger_than_what_was_recorded(testdata):
    plan = cudagraphkit.plan(testdata / "import/snapshot.pickle", assume="torch-streams")
    assert plan["lower_bound_bytes"] <= plan["peak_bytes"] <= 6 << 20
    assert {placement["block"] for placement in plan["placements"]} == {1, 2}
    assert repr(plan).startswith("<cudagraphkit.Plan: 2 blocks, peak ")


def test_graphs_of_other_sizes_are_estimated(testdata):
    trace = cudagraphkit.load(testdata / "traces/soft/inference_server.json")
    estimate = cudagraphkit.estimate(trace, [1, 2, 4, 8])
    assert estimate["shared_pool"] == {"bytes": 34 << 20, "low": 34 << 20, "high": 34 << 20}
    assert estimate["own_pools"]["bytes"] == 94 << 20
    assert [size["size"] for size in estimate["sizes"]] == [8, 4, 2, 1]
    assert repr(estimate) == "<cudagraphkit.Estimate: graphs of 4 sizes, 34 MiB in a shared pool>"
    measured = cudagraphkit.estimate(trace, {16}, captured=[1, 2, 4, 8], exec_costs=testdata / "estimate/measured.json.zst")
    assert measured["exec_source"] == "calibrated" and measured["sizes_from"] == "user"
    assert measured["execs"]["low"] <= measured["execs"]["bytes"] <= measured["execs"]["high"]


@pytest.mark.parametrize("what, message", [
    (lambda data: cudagraphkit.load("absent.json"), "absent.json"),
    (lambda data: cudagraphkit.load(data / "import/README.md"), "unrecognized format"),
    (lambda data: cudagraphkit.load(data / "import/snapshot.pickle", "dot"), "snapshot.pickle"),
    (lambda data: cudagraphkit.load(data / "import/snapshot.pickle", "pdf"), "no kind of file 'pdf'"),
    (lambda data: cudagraphkit.analyze(data / "import/trace.json", checks=["exec-leek"]), "exec-leak"),
    (lambda data: cudagraphkit.analyze(data / "import/trace.json", min_bytes="much"), "invalid size 'much'"),
    (lambda data: cudagraphkit.plan(data / "import/trace.json", assume="luck"), "'luck'"),
    (lambda data: cudagraphkit.estimate(data / "traces/soft/inference_server.json", [0]), "above 0"),
    (lambda data: cudagraphkit.estimate(data / "traces/soft/inference_server.json", [1], captured=[8]), "--captured"),
])
def test_what_can_not_be_done_is_an_error_of_one_line(testdata, what, message):
    with pytest.raises(cudagraphkit.Error) as caught:
        what(testdata)
    assert message in str(caught.value) and "\n" not in str(caught.value)
