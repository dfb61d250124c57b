"""Prints how much of each library is modelled: functions whose effect and error a conformance program checks.

    count_inventory.py LIBCUDA [--missing]      --missing lists those that answer but aren't checked
Fails where a function names a test but isn't modelled at all, where one of the core answers unchecked, and where less
than 95 % of the core are modelled.
"""

import ctypes
import re
import sys

LIBRARIES = ("libcuda.so.1", "libcudart.so.13", "libcupti.so.13")
# The functions that a graph program lives on.
CORE = re.compile(r"^cuda(?!GraphicsV?)(Stream|Event|Graph|ThreadExchange|UserObject|Mem|Malloc|Free|Host|Pointer|Device.*Mem)")


class Function(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("family", ctypes.c_char_p), ("test", ctypes.c_char_p),
                ("seen", ctypes.c_bool)]


def read(path):
    library = ctypes.CDLL(path)
    library.graphkit_soft_inventory.restype = ctypes.c_size_t
    for number, name in enumerate(LIBRARIES):
        rows = ctypes.POINTER(Function)()
        count = library.graphkit_soft_inventory(number, ctypes.byref(rows))
        yield name, [(r.name.decode(), r.family.decode(), r.test.decode(), r.seen) for r in rows[:count]]


def report(name, rows):
    checked = [r for r in rows if r[2] != "-"]
    answered = [r for r in rows if r[1] != "-"]
    print(f"{name}: {len(checked)} of {len(rows)} functions modelled by a conformance test; "
          f"{len(answered) - len(checked)} more answer; {len([r for r in rows if r[3]])} seen on hardware")
    if "--missing" in sys.argv:
        for r in answered:
            if r[2] == "-":
                print(f"  {r[0]}: unchecked")
        for r in rows:
            if r[1] == "-":
                print(f"  {r[0]}: missing")


def main() -> int:
    wrong = 0
    for name, rows in read(sys.argv[1]):
        report(name, rows)
        if name == "libcudart.so.13":
            core = [r for r in rows if CORE.match(r[0])]
            report("  streams, events, captures, graphs, memory", core)
            wrong += sum(1 for r in core if r[1] != "-" and r[2] == "-")
            wrong += sum(1 for r in core if r[2] != "-") < 0.95 * len(core)
        wrong += sum(1 for r in rows if r[1] == "-" and r[2] != "-")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
