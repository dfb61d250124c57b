"""Tests of the Python package, installed. GRAPHKIT_SOFT_CUDA is set where LD_LIBRARY_PATH leads to the software device."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
FAKE_TORCH = REPOSITORY / "tests/plugins/torch_hook/fake"

pytest_plugins = ["pytester"]


def python_path(first):
    """PYTHONPATH with one more folder in front."""
    return os.pathsep.join(filter(None, [str(first), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def testdata():
    return REPOSITORY / "testdata"


@pytest.fixture
def torch(monkeypatch):
    """A stand-in for PyTorch, on the software device that LD_LIBRARY_PATH leads to."""
    if not os.environ.get("GRAPHKIT_SOFT_CUDA"):
        pytest.skip("no software device here")
    monkeypatch.syspath_prepend(str(FAKE_TORCH))
    import torch

    yield torch
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        del sys.modules[name]
