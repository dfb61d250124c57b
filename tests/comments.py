"""What comments name exists: files of the repository, and functions and types written like FindOrder.

    comments.py SOURCE     prints each name that doesn't exist; exits with 1 if there is one
"""

import pathlib
import re
import subprocess
import sys

OURS = ("libgraphkit/", "plugins/", "tools/", "tests/", "docs/", "testdata/")
# Files and names of others: CUDA's and NVTX's headers, sources of PyTorch, libraries, and examples of traced programs.
OTHER_FILES = re.compile(r"^(c10|torch|aten|ATen|nvtx3)/|^src/step\.cu$|^(model|main|engine|llama)\.(cu|cpp)$"
                         r"|^(cuda|cupti|cusolver|cusparse|nccl|nvml|nvtx|nvTools|zlib|driver_types|channel_descriptor)\w*\.h$")
# Made by plugins/soft_cuda/abi/generate.py.
GENERATED = {"driver_entries.cpp", "runtime_entries.cpp", "runtime_forwards.cpp"}
OTHER_NAMES = {"AllocatorConfig", "FillFunctor", "GraphBuilder", "JavaScript", "MindSpore", "MurmurHash3", "NvtxCallbackModule",
               "OffsetCalculator", "ProgrammaticStreamSerialization", "PyBytesObject", "PyCodeObject", "PyCompactUnicodeObject",
               "PyThreadState", "ResolveAll", "TraceLens", "WarmUp"}
FILE = re.compile(r"(?<![\w./<*{~`$-])((?:[\w.-]+/)*[\w-]+\.(?:h|cpp|cu|py|def|inc|cmake))\b(?![\w/*]|\.\w)")
NAME = re.compile(r"(?<![\w.:<~\"-])([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?![\w\"])")
COMMENT = re.compile(r"^\s*(?://|\*|/\*)\s?(.*)|.*?[;{},)]\s+//\s(.*)")


def tracked(root: pathlib.Path) -> list[str]:
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
        return [name for name in listed.stdout.split("\n") if (root / name).is_file()]
    except (OSError, subprocess.CalledProcessError):  # no checkout: a released source archive
        return [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    files = tracked(root)
    ends = {"/".join(pathlib.PurePosixPath(name).parts[-n:]) for name in files for n in range(1, 9)}
    sources = {name: (root / name).read_text(errors="replace") for name in files
               if name.startswith(OURS) and name.endswith((".h", ".cpp", ".cu", ".c", ".py", ".def", ".table", ".cmake", ".txt", ".js", ".in"))
               and "/transcripts/" not in name}
    comments, known = [], set()
    for name, text in sources.items():
        for number, line in enumerate(text.split("\n"), 1):
            found = COMMENT.match(line) if name.endswith((".h", ".cpp", ".cu")) else None
            comment = (found.group(1) or found.group(2) or "") if found and "#include" not in line else ""
            code = line if not found else line[:-len(comment)] if comment and not line.lstrip().startswith(("//", "*", "/*")) else ""
            known.update(re.findall(r"[A-Za-z]\w*", code), re.findall(r"[A-Za-z]\w*", name))
            if comment and name.startswith(("libgraphkit/", "plugins/", "tools/", "tests/")):
                comments.append((name, number, comment))
    bad = []
    for name, number, comment in comments:
        for file in FILE.findall(comment):
            mine = file.startswith(OURS) or file.endswith((".h", ".cpp", ".def", ".inc"))
            if mine and file not in ends | GENERATED and not OTHER_FILES.match(file):
                bad.append(f"{name}:{number}: there is no file {file}")
        for word in NAME.findall(comment):
            if word not in known and word not in OTHER_NAMES:
                bad.append(f"{name}:{number}: there is no {word}")
    print("\n".join(bad) if bad else f"{len(comments)} lines of comments name what exists")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
