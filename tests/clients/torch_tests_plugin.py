"""A plugin of pytest for PyTorch's own tests, where kernels compute nothing: tensors, and numbers with a fraction, are taken for
equal, so that a test goes on to what it says of memory, streams and graphs. The result of each test is a line of JSON in the
file that GRAPHKIT_TEST_RESULTS names, and a line before it begins: the process may not survive it. Tests that the file
GRAPHKIT_TEST_LAST names run last.
"""

import json
import os

import torch
from torch.testing._internal import common_utils

RESULTS = os.environ["GRAPHKIT_TEST_RESULTS"]


def write(**line):
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def is_computed(value):
    """True of what a kernel may have computed: a tensor, a number with a fraction, or something that contains one."""
    if isinstance(value, (list, tuple, set)):
        return any(is_computed(of) for of in value)
    if isinstance(value, dict):
        return any(is_computed(of) for of in value.values())
    return isinstance(value, (torch.Tensor, float, complex))


def compare_no_values(of, name):
    real = getattr(of, name)

    def compare(self, *args, **kwargs):
        if not any(is_computed(value) for value in args[:2]):
            real(self, *args, **kwargs)

    setattr(of, name, compare)


for name in ("assertEqual", "assertNotEqual", "assertTrue", "assertFalse", "assertGreater", "assertGreaterEqual", "assertLess",
             "assertLessEqual", "assertAlmostEqual"):
    compare_no_values(common_utils.TestCase, name)
torch.allclose = torch.equal = torch.Tensor.allclose = torch.Tensor.equal = lambda *args, **kwargs: True
torch.testing.assert_close = lambda *args, **kwargs: None


def pytest_collection_modifyitems(items):
    with open(os.environ["GRAPHKIT_TEST_LAST"], encoding="utf-8") as file:
        last = set(file.read().splitlines())
    items.sort(key=lambda item: item.nodeid in last)


def pytest_collection_finish(session):
    """As test_cuda_expandable_segments.py does when it is run as a program."""
    for module in {item.module for item in session.items if item.module.__name__ == "test_cuda_expandable_segments"}:
        torch.cuda.memory._set_allocator_settings("expandable_segments:True")
        module.TestCuda.expandable_segments = lambda _: True
        module.TestBlockStateAbsorption.expandable_segments = lambda _: True


def pytest_runtest_logstart(nodeid):
    write(test=nodeid)


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        why = f"{os.path.basename(crash.path)}:{crash.lineno}: {crash.message.splitlines()[0]}" if crash else str(report.longrepr)[-300:]
    write(test=report.nodeid, outcome="failed" if report.failed else report.outcome, why=why)
