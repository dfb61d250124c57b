#!/usr/bin/env python3
"""Runs a program with other sizes: the values of names that it sets at its top, such as WIDTH, LAYERS = 256, 4.

usage: sized.py PROGRAM [NAME=VALUE…] [fixed]
"""

import ast
import json
import os
import pathlib
import sys

AGAIN = "SIZED_AGAIN"  # the command line, for processes that multiprocessing starts, which run the program's file again


def sized(source: str, values: dict) -> ast.Module:
    """The program with these values for the names that it assigns at its top; each of them must be there."""
    tree, left = ast.parse(source), dict(values)
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            pairs = [(target, statement.value)]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = list(zip(target.elts, statement.value.elts))
            for name, value in pairs:
                if isinstance(name, ast.Name) and name.id in left:
                    new = ast.copy_location(ast.parse(left.pop(name.id), mode="eval").body, value)
                    if value is statement.value:
                        statement.value = new
                    else:
                        statement.value.elts[statement.value.elts.index(value)] = new
    if left:
        sys.exit(f"sized.py: the program sets no {', '.join(left)}")
    return ast.fix_missing_locations(tree)


def run(words: list, name: str):
    program, values = words[0], dict(word.split("=", 1) for word in words[1:] if "=" in word)
    tree = sized(pathlib.Path(program).read_text(encoding="utf-8"), values)
    sys.path[0] = str(pathlib.Path(program).resolve().parent)
    sys.argv = [program, *[word for word in words[1:] if "=" not in word]]
    exec(compile(tree, program, "exec"), {"__name__": name, "__file__": program})


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, file=sys.stderr if len(sys.argv) < 2 else sys.stdout)
        return 2 if len(sys.argv) < 2 else 0
    os.environ[AGAIN] = json.dumps([os.path.abspath(sys.argv[1]), *sys.argv[2:]])
    run(sys.argv[1:], "__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
if __name__ == "__mp_main__" and AGAIN in os.environ:
    run(json.loads(os.environ[AGAIN]), "__mp_main__")
