"""Limits for the GPU memory of a test.

    @pytest.mark.graph_limits(max_peak="1 GiB", max_deferred="0 B", max_leaks=0)
    def test_step(): ...

max_peak      most bytes of PyTorch's allocator in use at once, of what the test allocates
max_deferred  most bytes that were given back and could not be reused yet: record_stream, captures
max_leaks     blocks that are still there when the test has ended

A test with `max_leaks` runs several times (--graphkit-runs): what only the first run leaves behind is a cache, not a leak. With
--graphkit-fail-on-increase a test also fails when it needs more than when it last passed. Where memory can't be measured,
the test is skipped, so that no limit counts as kept that wasn't looked at.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import pytest

from . import _native
from ._tracing import Recording, trace

LIMITS = {"max_peak": "peak", "max_deferred": "deferred", "max_leaks": "leaks"}  # and the figure of Usage


@dataclass
class Usage:
    """The memory that one test needed."""

    test: str
    peak: int = 0
    deferred: int = 0
    leaks: int = 0
    leaked_bytes: int = 0
    runs: int = 0
    peak_lines: str = ""  # who has these
    leaked_lines: str = ""
    before: Optional[dict[str, int]] = None  # when it last passed
    why: list[str] = field(default_factory=list)  # it fails

    def add(self, recording: Recording) -> None:
        self.runs += 1
        if recording.peak_bytes > self.peak:
            self.peak, self.peak_lines = recording.peak_bytes, recording.lines_of(recording.at_peak)
        self.deferred = max(self.deferred, recording.deferred_bytes)
        # Each run leaks for itself: a leak is what every run leaves behind, the first one aside.
        if self.runs <= 2 or recording.leaked_blocks < self.leaks:
            self.leaks, self.leaked_bytes = recording.leaked_blocks, recording.leaked_bytes
            self.leaked_lines = recording.lines_of(recording.leaked)

    def lines(self, figure: str) -> str:
        text = {"peak": self.peak_lines, "leaks": self.leaked_lines}.get(figure, "")
        return f" ({text})" if text else ""


def _limits(mark: pytest.Mark) -> dict[str, int]:
    unknown = [name for name in mark.kwargs if name not in LIMITS]
    if unknown or mark.args or not mark.kwargs:
        pytest.fail(f"graph_limits takes {', '.join(LIMITS)}, by their names", pytrace=False)
    try:
        return {LIMITS[name]: _native.parse_size(value) if isinstance(value, str) else int(value)
                for name, value in mark.kwargs.items()}
    except ValueError as error:
        pytest.fail(f"graph_limits: {error}", pytrace=False)


def _shown(name: str, value: int) -> str:
    return str(value) if name == "leaks" else _native.format_size(value)


class Plugin:
    def __init__(self, config: pytest.Config):
        self.config = config
        self.usages: list[Usage] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> None:
        """Puts the recording around the test's function; pytest calls it afterwards."""
        mark = pyfuncitem.get_closest_marker("graph_limits")
        if mark is None:
            return
        limits = _limits(mark)
        if inspect.iscoroutinefunction(pyfuncitem.obj):
            pytest.fail("graph_limits: a coroutine can't be measured; run it inside of the test", pytrace=False)
        why = _unmeasurable()
        if why:
            pytest.skip(f"graph_limits: {why}")
        pyfuncitem.obj = self._measured(pyfuncitem.obj, pyfuncitem.nodeid, limits)

    def _measured(self, function: Callable[..., Any], test: str, limits: dict[str, int]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            usage = Usage(test)
            self.usages.append(usage)
            runs = self.config.getoption("graphkit_runs") if "leaks" in limits else 1
            for _ in range(runs):
                _run_once(function, args, kwargs, usage)
            self._judge(usage, limits)

        return run

    def _judge(self, usage: Usage, limits: dict[str, int]) -> None:
        for name, limit in limits.items():
            if getattr(usage, name) > limit:
                usage.why.append(f"{name} is {_shown(name, getattr(usage, name))}, more than {_shown(name, limit)}{usage.lines(name)}")
        cache = getattr(self.config, "cache", None)  # none with -p no:cacheprovider
        key = f"graphkit/{usage.test}"
        usage.before = cache.get(key, None) if cache else None
        if usage.before and self.config.getoption("graphkit_fail_on_increase"):
            for name, value in usage.before.items():
                if name in limits and getattr(usage, name) > value:
                    usage.why.append(f"{name} rose from {_shown(name, value)} to {_shown(name, getattr(usage, name))}{usage.lines(name)}")
        if usage.why:
            pytest.fail("graph_limits: " + "; ".join(usage.why), pytrace=False)
        if cache:
            cache.set(key, {figure: getattr(usage, figure) for figure in LIMITS.values()})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.usages:
            return
        terminalreporter.section("graphkit: memory of tests with limits")
        width = max(len(usage.test) for usage in self.usages)
        terminalreporter.write_line(f"{'test':<{width}}  {'peak':>10}  {'deferred':>10}  leaks  runs")
        for usage in self.usages:
            line = (f"{usage.test:<{width}}  {_shown('peak', usage.peak):>10}  {_shown('deferred', usage.deferred):>10}"
                    f"  {usage.leaks:>5}  {usage.runs:>4}")
            terminalreporter.write_line(line + (f"  {'; '.join(usage.why)}" if usage.why else ""))


def _unmeasurable() -> str:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return "there is no torch here"
    if torch.version.cuda is None or not torch.cuda.is_available():
        return "torch has no CUDA here"
    return ""


def _run_once(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], usage: Usage) -> None:
    with trace() as recording:
        function(*args, **kwargs)
        gc.collect()
    usage.add(recording)
    assert recording.trace is not None
    if not recording.trace.complete:
        pytest.fail("graph_limits: can't be judged: " + "; ".join(recording.trace.missing), pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("graphkit")
    group.addoption("--graphkit-fail-on-increase", action="store_true",
                    help="fail a test with graph_limits that needs more than when it last passed")
    group.addoption("--graphkit-runs", type=int, default=3, metavar="N",
                    help="how often a test with a limit for leaks runs (default: 3)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "graph_limits(max_peak, max_deferred, max_leaks): most GPU memory that the test may need")
    if config.getoption("graphkit_runs") < 1:
        raise pytest.UsageError("--graphkit-runs is 1 or more")
    config.pluginmanager.register(Plugin(config), "graphkit_limits")
