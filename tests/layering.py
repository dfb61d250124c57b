"""Who may include whom, as in docs/architecture.md. Prints each include that points upwards; exits 1 if any does."""

import pathlib
import re
import sys

FOUNDATION = "libgraphkit"
IO = {f"libgraphkit/io/{part}" for part in ("bytes", "record", "trace", "pickle", "files", "import", "merge")}
# Floors of facts, from the lowest, and what stands on them.
FLOORS = [f"libgraphkit/analysis/{part}" for part in ("names", "order", "memory", "launches")]
ANALYSIS = {*FLOORS, "libgraphkit/analysis/checks", "libgraphkit/analysis/explain", "libgraphkit/analysis"}
BELOW_FACTS = {FOUNDATION, "libgraphkit/model", "libgraphkit/ran"}
BELOW_ALLOC = BELOW_FACTS | {"libgraphkit/alloc"} | ANALYSIS
# Parts of a folder, each with the parts that it may include beside the folder's own files.
ALLOC = {"chunks": (), "judge": (), "models": ("chunks",), "policies": ("chunks",), "plan": ("judge",), "recorded": ("models",),
         "estimate": ("models",)}
RENDER = {"analyze": (), "dot": (), "estimate": (), "explain": (), "plan": (), "ranks": (),
          "report": ("analyze", "dot", "explain", "ranks"), "diff": ("explain", "report")}
COMMAND = {"terminal": (), "files": ("terminal",), "cli": ("files", "terminal")}
COMMAND.update({part: tuple(COMMAND) for part in ("attribute", "check", "doctor", "export", "plan", "replay", "survive")})
COMMAND["trace"] = (*COMMAND["doctor"], "doctor")
COMMAND["commands"] = tuple(COMMAND)

# The tracer's parts, from what knows no call of CUDA up; the files above them are the library that is loaded.
TRACER = {"ground": (), "stacks": ("ground",), "calls": ("ground", "stacks"), "recorder": ("ground", "stacks", "calls"),
          "driver": ("ground", "stacks", "calls", "recorder")}
# Of the software device: `ground` knows nothing of what the device holds.
SOFT = {"ground": (), "abi": ("ground",), "audit": (), "model": ("ground",), "device": ("ground", "model", "audit"),
        "cupti": ("ground", "abi"), "runtime": ("ground", "model", "abi"), "runtime12": ("runtime",), "libraries": ("ground", "abi")}
DRIVER = {"rules": (), "stream": ("rules",), "graph": ("rules", "stream"), "memory": ("rules", "stream"), "code": ("rules",),
          "context": ("rules", "stream")}


def parts_of(folder: str, parts: dict, below: set) -> dict:
    """Who a folder's parts may include."""
    return {f"{folder}/{part}": below | {f"{folder}/{other}" for other in others} for part, others in parts.items()}


ALL_ALLOC = {"libgraphkit/alloc", *(f"libgraphkit/alloc/{part}" for part in ALLOC)}
ALL = IO | ANALYSIS | ALL_ALLOC | {"libgraphkit", "libgraphkit/model", "libgraphkit/ran", "libgraphkit/replay", "libgraphkit/compare",
                                   "libgraphkit/render", *(f"libgraphkit/render/{part}" for part in RENDER)}
BELOW_TRACER = {FOUNDATION, "libgraphkit/model", "libgraphkit/io/record", "plugins/elf"}
BELOW_RENDER = {folder for folder in ALL - IO if not folder.startswith("libgraphkit/render/")}
MAY_INCLUDE = {
    "libgraphkit": set(),
    "libgraphkit/model": {FOUNDATION},
    "libgraphkit/io/bytes": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/io/record": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/io/trace": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes", "libgraphkit/io/record"},
    "libgraphkit/io/pickle": {FOUNDATION},
    "libgraphkit/io/files": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes"},
    "libgraphkit/io/import": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes", "libgraphkit/io/files",
                              "libgraphkit/io/pickle", "libgraphkit/io/trace"},
    "libgraphkit/io/merge": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/import", "libgraphkit/io/record",
                             "libgraphkit/io/trace"},
    "libgraphkit/ran": {FOUNDATION, "libgraphkit/model"},
    **{floor: {*BELOW_FACTS, *FLOORS[:i]} for i, floor in enumerate(FLOORS)},
    "libgraphkit/analysis/checks": {*BELOW_FACTS, *FLOORS},
    "libgraphkit/analysis/explain": {*BELOW_FACTS, *FLOORS},
    "libgraphkit/analysis": BELOW_FACTS | ANALYSIS,
    "libgraphkit/alloc": BELOW_ALLOC,
    **parts_of("libgraphkit/alloc", ALLOC, BELOW_ALLOC),
    "libgraphkit/replay": BELOW_ALLOC | ALL_ALLOC,
    "libgraphkit/compare": BELOW_ALLOC | ALL_ALLOC,
    "libgraphkit/render": BELOW_RENDER,
    **parts_of("libgraphkit/render", RENDER, BELOW_RENDER),
    **parts_of("tools/graphkit", COMMAND, ALL | {"plugins/elf"}),
    "tools/graphkit": ALL | {f"tools/graphkit/{part}" for part in COMMAND},
    "tools/trace_schema": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/record", "libgraphkit/io/trace"},
    "plugins/elf": set(),
    **parts_of("plugins/cupti_tracer", TRACER, BELOW_TRACER),
    "plugins/cupti_tracer": BELOW_TRACER | {f"plugins/cupti_tracer/{part}" for part in TRACER},
    "plugins/soft_cuda": set(),
    **parts_of("plugins/soft_cuda", SOFT, {"plugins/elf"}),
    "plugins/soft_cuda/driver": {"plugins/soft_cuda/ground", "plugins/soft_cuda/abi"},
    **parts_of("plugins/soft_cuda/driver", DRIVER, {f"plugins/soft_cuda/{part}" for part in ("ground", "model", "device", "abi")}),
    "plugins/cuda_exec": {"tools/graphkit/replay"},  # the interface that it implements
    "plugins/torch_allocator": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes", "libgraphkit/io/files"} | BELOW_ALLOC | ALL_ALLOC,
    "plugins/python": ALL - {"libgraphkit/compare"},
}
# Files that stand on another floor than their folder.
HOMES = {
    # All facts in one type: of the highest floor, and where everyone looks for it.
    "libgraphkit/analysis/facts.h": FLOORS[-1], "libgraphkit/analysis/facts.cpp": FLOORS[-1],
    **{f"tools/graphkit/{file}": "tools/graphkit/files" for file in ("child.h", "child.cpp", "plugins.h", "plugins.cpp")},
    # The device as other libraries see it, and a kernel's signature: without what the device holds.
    **dict.fromkeys([f"plugins/soft_cuda/{file}.h" for file in ("device/shared", "device/properties", "abi/stand_in")],
                    "plugins/soft_cuda/ground"),
    # Their headers know no Gpu, or its name only; the one counts in it, the other reads a setting as it does.
    **dict.fromkeys([f"plugins/soft_cuda/{file}.cpp" for file in ("model/exec_memory", "ground/backing")], "plugins/soft_cuda/device"),
    "tools/graphkit/commands.h": "tools/graphkit/cli", "tools/graphkit/check_pages.h": "tools/graphkit/files",
}
# Files with a narrower rule than their folder's.
NARROWER = {
    "libgraphkit/io/record/record_line.h": set(),
}
PACKAGE = "plugins/python/cudagraphkit"
IMPORT = re.compile(r"^\s*from \.(\w*) import (.+)$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def folder_of(path: str) -> str:
    """The longest folder of the table that holds the path."""
    if path in HOMES:
        return HOMES[path]
    hits = [f for f in MAY_INCLUDE if path.startswith(f + "/")]
    return max(hits, key=len) if hits else ""


def violations(root: pathlib.Path):
    for folder in MAY_INCLUDE:
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in {".h", ".cpp", ".cu", ".c", ".inc"}):
            name = file.relative_to(root).as_posix()
            home = folder_of(name)
            if home != folder and HOMES.get(name) != home:
                continue
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(line)
                target = found and folder_of(found.group(1))
                if not target or target == home:
                    continue
                allowed = NARROWER.get(name, MAY_INCLUDE[home])
                if target not in allowed:
                    yield f"{name}:{number}: {home} may not include {found.group(1)}"


def imports(root: pathlib.Path) -> dict:
    """The modules of the Python package that each module imports, inside functions too."""
    modules = {file.stem: file.read_text() for file in (root / PACKAGE).glob("*.py")}
    return {name: {word for module, names in IMPORT.findall(text) for word in ([module] if module else re.findall(r"\w+", names))
                   if word in modules} for name, text in modules.items()}


def loops(may_include: dict, what: str) -> list:
    """Those that may include themselves through others."""
    above = {}
    for folder in may_include:
        seen, open_ = set(), [folder]
        while open_:
            more = may_include.get(open_.pop(), set()) - seen
            seen |= more
            open_ += more
        above[folder] = seen - may_include[folder] if folder in may_include[folder] else seen
    return [f"{what} a loop through {folder}" for folder, seen in above.items() if folder in seen]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    package = imports(root)
    bad = [*loops(MAY_INCLUDE, "the table has"), *loops(package, f"imports of {PACKAGE} make"), *violations(root)]
    if not any(package.values()):
        bad.append(f"no import is found in {PACKAGE}")
    print("\n".join(bad) if bad else "layering: every include points downwards")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
