"""The sdist of the Python package has all that its build reads: each file that a CMakeLists.txt of the library, the
plugins or the tools names.

    sdist_sources.py REPOSITORY
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
BACKEND = ROOT / "plugins/python/backend/cudagraphkit_backend.py"
needed = next(ast.literal_eval(node.value) for node in ast.parse(BACKEND.read_text(encoding="utf-8")).body
              if isinstance(node, ast.Assign) and node.targets[0].id == "NEEDED")
missing, seen = [], 0
for folder in ("libgraphkit", "plugins", "tools"):
    for file in ROOT.joinpath(folder).rglob("CMakeLists.txt"):
        for named in re.findall(r"\$\{PROJECT_SOURCE_DIR\}/([\w./*-]+)", file.read_text(encoding="utf-8")):
            if file.parent.name == "python" or not (ROOT / named.split("*")[0]).exists():
                continue  # of a project of its own
            seen += 1
            if not any(named == path or named.startswith(f"{path}/") for path in needed):
                missing.append(f"{file.relative_to(ROOT)}: {named} isn't in NEEDED of {BACKEND.relative_to(ROOT)}")
print(*missing, f"{seen} files, {len(missing)} missing", sep="\n")
sys.exit(bool(missing) or seen == 0)
