"""The client programs of a folder that can run on this machine's GPU, a name a line; on standard error each other one
and what it needs.

    here.py FOLDER [DEVICES]     DEVICES: how many GPUs there are (1)
"""

import ast
import importlib.util
import pathlib
import re
import sys


OURS = {"torch_allocator"}  # on the path of a traced program


def modules(path):
    """Those that the program imports, and those of its own modules, which are in this folder or in one beside it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    for name in sorted(found):
        for own in [path.with_name(f"{name}.py"), *path.parents[1].glob(f"*/{name}/__init__.py")]:
            if own.exists() and own != path:
                found = found - {name} | modules(own)
    return found - OURS


def devices(text):
    """How many the program asks for."""
    ranks = re.search(r"^# torchrun: (\d+)", text, re.M)
    asked = re.search(r"^# environment:.*GRAPHKIT_SOFT_DEVICES=(\S+)", text, re.M)
    count = 1
    if asked:
        number = re.search(r"^(\d+)$|count=(\d+)", asked[1])
        count = int(number[1] or number[2]) if number else asked[1].count(";") + 1
    return max(count, int(ranks[1]) if ranks else 1)


def lacking(path, there):
    text = path.read_text(encoding="utf-8")
    if devices(text) > there:
        return f"{devices(text)} GPUs"
    if "GRAPHKIT_SOFT_MEMORY" in text:
        return "the software device"
    missing = sorted(name for name in modules(path) if not importlib.util.find_spec(name))
    return ", ".join(missing)


folder, there = pathlib.Path(sys.argv[1]), int((sys.argv[2:] or ["1"])[0])
for path in sorted(folder.glob("*.py")):
    needs = lacking(path, there)
    print(f"{path.stem} needs {needs}" if needs else path.stem, file=sys.stderr if needs else sys.stdout)
