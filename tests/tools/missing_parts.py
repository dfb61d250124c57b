"""What a build lacks of the parts that `graphkit trace` uses is missed before the program starts, with the command that
builds it, and `graphkit doctor` lists it. A complete build says nothing.

    missing_parts.py BUILD
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
SOFT = "lib/graphkit/soft_cuda"
COMMAND = "cmake --build tree --target trace_parts"


class Tree:
    """A build folder with the same files as BUILD, but for those named."""

    def __init__(self, lacks=(), built=True):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.temporary.name, "tree")
        (self.path / "bin").mkdir(parents=True)
        shutil.copy(BUILD / "bin/graphkit", self.path / "bin/graphkit")
        for file in (BUILD / "lib/graphkit").rglob("*"):
            name = file.relative_to(BUILD)
            if file.is_file() and str(name) not in lacks:
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                (self.path / name).symlink_to(file)
        if built:
            (self.path / "CMakeCache.txt").touch()

    def run(self, *words):
        done = subprocess.run([self.path / "bin/graphkit", *words], cwd=self.path.parent, capture_output=True, text=True,
                              timeout=100)
        return done.returncode, " ".join(done.stdout.split()), done.stderr

    def trace(self):
        return self.run("trace", "--device", "soft", "--", "sh", "-c", "echo started >&2")


def a_complete_build_says_nothing():
    code, _, err = Tree().trace()
    assert code == 0 and "lacks" not in err and "started" in err, err
    assert COMMAND not in Tree().run("doctor")[1]


def a_stand_in_that_is_missing():
    tree = Tree(lacks=[f"{SOFT}/libraries/libnvidia-ml.so.1", f"{SOFT}/libraries/libcublas.so.13"])
    code, _, err = tree.trace()
    line = ("graphkit: warning: this build of the software device lacks libcublas.so.13 and libnvidia-ml.so.1, so programs "
            f"that use one of them fail: {COMMAND}\n")
    assert code == 0 and err.index(line) < err.index("started"), err
    shown = tree.run("doctor")[1]
    assert "libcublas.so.13 and libnvidia-ml.so.1 aren't in" in shown and COMMAND in shown, shown


def a_part_without_which_nothing_runs():
    for lacks, says in ((f"{SOFT}/libcuda.so.1", "this build lacks the software device"),
                        ("lib/graphkit/libgraphkit_tracer.so", "this build lacks the tracer")):
        code, _, err = Tree(lacks=[lacks]).trace()
        assert code == 125 and says in err and COMMAND in err and "started" not in err, err


def an_installed_one_has_no_build_folder():
    code, _, err = Tree(lacks=[f"{SOFT}/libraries/libnccl.so.2"], built=False).trace()
    assert code == 0 and "lacks libnccl.so.2, so programs that use it fail: install graphkit again" in err, err


for test in (a_complete_build_says_nothing, a_stand_in_that_is_missing, a_part_without_which_nothing_runs,
             an_installed_one_has_no_build_folder):
    test()
    print("passed", test.__name__)
