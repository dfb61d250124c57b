"""The pytest plug-in, in tests of its own."""

import pytest
from conftest import FAKE_TORCH, python_path

HEAD = "import pytest, torch\nkept = []\n"


@pytest.fixture
def run(pytester, torch, monkeypatch):
    """Runs tests in a process of their own."""
    monkeypatch.setenv("PYTHONPATH", python_path(FAKE_TORCH))

    def runs(tests, *options):
        pytester.makepyfile(test_memory=HEAD + tests)
        return pytester.runpytest_subprocess("-p", "no:randomly", *options)

    return runs


@pytest.mark.parametrize("options", [(), ("-p", "no:cacheprovider")])
def test_a_test_within_its_limits_passes_and_is_listed(run, options):
    result = run("""
@pytest.mark.graph_limits(max_peak="2 MiB", max_deferred=0, max_leaks=0)
def test_small():
    torch.empty(1 << 20)
""", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*graphkit: memory of tests with limits*", "test_memory.py::test_small*1 MiB*0 B*0*3*"])


@pytest.mark.parametrize("limits, body, why", [
    ("max_peak='1 MiB'", "torch.empty(3 << 20)", "peak is 3 MiB, more than 1 MiB (3 MiB at *test_memory.py:4*)"),
    ("max_leaks=0", "kept.append(torch.empty(512))", "leaks is 1, more than 0 (512 B at *test_memory.py:4*)"),
])
def test_a_test_over_its_limits_fails_and_says_why(run, limits, body, why):
    result = run(f"@pytest.mark.graph_limits({limits})\ndef test_large(): {body}\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*graph_limits: {why}*"])


def test_what_only_the_first_run_leaves_is_no_leak(run):
    result = run("""
@pytest.mark.graph_limits(max_leaks=0)
def test_cache():
    if not kept: kept.append(torch.empty(512))
""")
    result.assert_outcomes(passed=1)


def test_a_rise_fails_on_demand_only(run):
    grow = """
import pathlib
@pytest.mark.graph_limits(max_peak="1 GiB")
def test_grows():
    count = pathlib.Path("count"); size = len(count.read_text()) if count.exists() else 0
    count.write_text("x" * (size + 1)); torch.empty((size + 1) << 20)
"""
    run(grow).assert_outcomes(passed=1)
    run(grow).assert_outcomes(passed=1)
    result = run(grow, "--graphkit-fail-on-increase")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*peak rose from 2 MiB to 3 MiB*"])


def test_other_words_are_an_error(run):
    for words in ("peak=1", "1", ""):
        result = run(f"@pytest.mark.graph_limits({words})\ndef test_it(): pass\n")
        assert result.ret != 0
        assert "graph_limits takes max_peak, max_deferred, max_leaks, by their names" in result.stdout.str() + result.stderr.str()


def test_where_nothing_can_be_measured_the_test_is_skipped(pytester):
    pytester.makepyfile(torch="class version: cuda = None\n__version__ = '2.9.0+cpu'\n",
                        test_memory=HEAD + "@pytest.mark.graph_limits(max_leaks=0)\ndef test_it(): assert False\n")
    result = pytester.runpytest_subprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*graph_limits: torch has no CUDA here*"])
