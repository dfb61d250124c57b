"""What a notebook shows: answers of the command with their types, and the magic of a cell."""

import html
import json
import os
import re
import subprocess
import sys
import textwrap

import cudagraphkit
import pytest
from cudagraphkit import _command
from conftest import FAKE_TORCH, python_path

pytestmark = pytest.mark.skipif(not _command.PROGRAM.exists(), reason="built without the command")
MIB = 1 << 20


def command(*words):
    return subprocess.run([str(_command.PROGRAM), *map(str, words)], capture_output=True, text=True, check=False).stdout


@pytest.fixture
def snapshots(testdata):
    return [testdata / "torch-snapshots" / f"transformer_{name}.pickle" for name in ("small", "inference")]


def test_a_file_is_explained_as_by_the_command(snapshots):
    explained = cudagraphkit.explain(snapshots[0])
    assert explained == json.loads(command(snapshots[0], "--format", "json"))
    assert explained.kind == "torch-snapshot" and explained.peak_bytes == 13927832064
    assert list(explained.holders["bytes"]) == [holder["bytes"] for holder in explained["devices"][0]["holders"]]
    shown = explained._repr_html_()
    assert "peak in use 13.0 GiB" in shown and ">cs336_basics/model.py:39<" in shown and "and 8 more" in shown
    assert "<cudagraphkit.Explanation" in repr(explained) and "peak in use 13.0 GiB>" in repr(explained)


def test_a_file_that_is_no_trace_is_explained_too(testdata, tmp_path):
    table = tmp_path / "lifetimes.csv"
    table.write_text("id,lower,upper,size\n1,0,2,4\n")
    explained = cudagraphkit.explain(table)
    assert explained.kind == "lifetimes" and explained.peak_bytes is None and len(explained.holders) == 0
    assert "lifetimes.csv" in explained._repr_html_()


def test_two_files_are_compared(snapshots):
    diff = cudagraphkit.diff(*snapshots)
    assert not diff.equal and diff == json.loads(command("diff", *snapshots, "--format", "json"))
    assert list(diff.holders["change"]) == sorted(diff.holders["change"], reverse=True), "what grew most first"
    assert all(diff.holders["change"] == diff.holders["after"] - diff.holders["before"])
    assert diff.figures["peak_reserved_bytes"] == (14180941824, 4238344192)
    assert "different" in diff._repr_html_() and "+444 MiB" in diff._repr_html_() and "different>" in repr(diff)
    assert cudagraphkit.diff(snapshots[0], snapshots[0]).equal


def test_a_check_says_why_it_failed(testdata):
    trace = testdata / "traces/soft/leaky.json"
    verdict = cudagraphkit.check(trace)
    assert not verdict.passed and verdict.reasons[0].startswith("graph-allocation-leak: ")
    assert set(verdict.findings["severity"]) <= {"error", "warning", "note"}
    assert list(verdict.findings["count"]) == [1] * len(verdict["findings"])
    assert repr(verdict).startswith("<cudagraphkit.Verdict: failed, ")
    assert "<b>failed</b>" in verdict._repr_html_() and "graph-allocation-leak" in verdict._repr_html_()
    assert cudagraphkit.check(trace, fail_on="none").passed
    assert not cudagraphkit.check(trace, {"max_peak": "1 MiB"}, fail_on="none").passed


def test_a_trace_in_memory_is_asked_like_a_file(testdata):
    path = testdata / "traces/soft/fork_join.json"
    assert cudagraphkit.explain(cudagraphkit.load(path)).holders.tolist() == cudagraphkit.explain(path).holders.tolist()


def test_show_is_the_page_of_the_command(testdata, snapshots, tmp_path):
    page = cudagraphkit.show(snapshots[0], height=500)
    written = tmp_path / "report.html"
    command("report", snapshots[0], "-o", written)
    assert page.html == written.read_text()
    framed = re.fullmatch(r'<iframe srcdoc="([^"]*)" .*height:500px.*></iframe>', page._repr_html_(), re.DOTALL)
    assert html.unescape(framed[1]) == page.html
    cudagraphkit.report(snapshots[0], tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page.html
    assert "<title>" in cudagraphkit.show(*snapshots).html
    with pytest.raises(cudagraphkit.Error, match="one file, or two"):
        cudagraphkit.show()


def test_a_bad_file_is_one_line(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    for ask in (cudagraphkit.explain, cudagraphkit.show, cudagraphkit.check):
        with pytest.raises(cudagraphkit.Error) as raised:
            ask(bad)
        assert "\n" not in str(raised.value) and "bad.json" in str(raised.value)


CELL = """
    from IPython.testing.globalipapp import start_ipython
    shell = start_ipython()
    shell.run_line_magic("load_ext", "cudagraphkit")
    shell.run_cell("import torch; before = torch.empty(16 << 20)")
    shell.run_cell_magic("graphkit", "-o {path}", {cell!r})
"""


def run_cell(cell, path):
    program = textwrap.dedent(CELL).format(cell=cell, path=path)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": python_path(FAKE_TORCH), "IPYTHONDIR": str(path.parent)})


def test_a_cell_shows_its_own_memory(torch, tmp_path):
    pytest.importorskip("IPython")
    path = tmp_path / "cell.html"
    done = run_cell("def forward():\n    return torch.empty(3 << 20)\nkept = forward()\nother = forward()\ndel other", path)
    assert done.returncode == 0, done.stderr
    assert "peak of this cell's memory 6 MiB, deferred 0 B, still in use 3 MiB in 1 blocks" in done.stdout
    assert "<cudagraphkit.Page" in done.stdout
    assert path.read_text().startswith("<!DOCTYPE html>")


def test_a_cell_that_fails_shows_its_error_and_its_memory(torch, tmp_path):
    pytest.importorskip("IPython")
    path = tmp_path / "cell.html"
    done = run_cell("kept = torch.empty(3 << 20)\nraise RuntimeError('no such layer')", path)
    assert "no such layer" in done.stdout + done.stderr
    assert "still in use 3 MiB in 1 blocks" in done.stdout and "the cell raised" in done.stdout
    assert re.search(r"at the peak: 3 MiB at In\[\d+\]:2", done.stdout), done.stdout
    assert path.read_text().startswith("<!DOCTYPE html>")


def test_a_wrong_option_of_the_magic_is_one_line(torch, tmp_path):
    pytest.importorskip("IPython")
    program = textwrap.dedent(CELL).format(cell="1", path="").replace("-o ", "--colour")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": python_path(FAKE_TORCH), "IPYTHONDIR": str(tmp_path)})
    assert "%%graphkit: unrecognized arguments: --colour; it takes -o FILE and --height PIXELS" in done.stdout + done.stderr
