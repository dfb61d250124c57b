"""Calls every function that isn't modelled, and fails where one doesn't say so by its name and its error.

    check_refusals.py FOLDER      of the software device's libraries
"""

import ctypes
import os
import sys
import tempfile

import count_inventory

NOT_SUPPORTED = {"libcuda.so.1": 801, "libcudart.so.13": 801, "libcupti.so.13": 27}


def call_all(folder):
    """[(library, function, what it returned)] of what isn't modelled."""
    for name, rows in count_inventory.read(os.path.join(folder, "libcuda.so.1")):
        library = ctypes.CDLL(os.path.join(folder, name))
        for function, family, _, _ in rows:
            if family == "-" and not function.startswith("__cudaRegister"):  # these return nothing
                yield name, function, getattr(library, function)()


def expected(library, function):
    """An injection that fails returns 0 to NVTX."""
    return 0 if function.startswith("InitializeInjection") else NOT_SUPPORTED[library]


def main() -> int:
    with tempfile.TemporaryFile() as said:
        keep = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            answers = list(call_all(sys.argv[1]))
        finally:
            os.dup2(keep, 2)
        said.seek(0)
        lines = said.read().decode().splitlines()
    named = {word for line in lines if "is not modelled" in line for word in line.split()}
    wrong = [f"{library}: {function} returned {result}" for library, function, result in answers
             if result != expected(library, function)]
    wrong += [f"{library}: {function} doesn't say that it isn't modelled" for library, function, _ in answers
              if function not in named]
    print("\n".join(wrong + [f"{len(answers)} functions refuse, {len(wrong)} of them wrongly"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
