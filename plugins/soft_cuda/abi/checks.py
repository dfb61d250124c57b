"""What the conformance programs check, read from their sources.

A function counts as modelled only if a program checks its effect and one of its errors:
  effect   a line `// effect: cudaFoo cudaBar` above the check; the program must call them
  error    EXPECT_ERROR(cudaErrorX, cudaFoo(...)), EXPECT_FAILS(cudaFoo(...)), or for CUPTI
           EXPECT(CUPTI(cuptiFoo)(...) == CUPTI_ERROR_X)
           a line `// cannot fail: cudaFoo` for the few that have no error
"""

import re
from dataclasses import dataclass

EFFECT = re.compile(r"^// effect:(.*)$", re.M)
CANNOT_FAIL = re.compile(r"^// cannot fail:(.*)$", re.M)
ERRORS = [re.compile(r"EXPECT_ERROR\(\s*(?!cudaSuccess|CUDA_SUCCESS|0\b)\w+\s*,\s*((?:__)?cu\w+)\s*\("),
          re.compile(r"EXPECT_FAILS\(\s*(cu\w+)\s*\("),
          re.compile(r"EXPECT\(\s*CUPTI\((\w+)\)[^;]*?==\s*CUPTI_ERROR_")]


@dataclass
class Checks:
    effects: dict  # function: [programs]
    errors: dict

    def programs(self, function):
        """The programs that check its effect, if one of its errors is checked, too."""
        return self.effects.get(function, []) if function in self.errors else []


def newest_names(header):
    """cuda.h's `#define cuFoo cuFoo_v2` and `#define cuFoo __CUDA_API_PTDS(cuFoo_v2)`: what a program calls by the
    short name. Old names of functions that are gone are defined further down; the first definition counts."""
    renamed = {}
    pattern = r"^\s*#\s*define\s+(cu\w+)\s+(?:__CUDA_API_PT[DS][SZ]\()?(cu\w+_v\d+)\)?\s*$"
    for short, full in re.findall(pattern, header, re.M):
        renamed.setdefault(short, full)
    return renamed


def full_name(name, renamed):
    """The exported name: programs call cuFoo for the newest version, and cuFoo_v1 for the first, which they ask
    cuGetProcAddress for."""
    return name[:-3] if name.endswith("_v1") else renamed.get(name, name)


def read_checks(sources, renamed):
    """`sources`: paths of the programs. Names of functions that a program doesn't call are an error."""
    checks = Checks({}, {})
    for source in sources:
        text = source.read_text()
        code = re.sub(r"//.*", "", text)
        for pattern, table in ((EFFECT, checks.effects), (CANNOT_FAIL, checks.errors)):
            for name in " ".join(pattern.findall(text)).split():
                if not name.startswith("__") and not re.search(rf"\b{name}\b", code):
                    raise SystemExit(f"{source}: names {name}, which it doesn't call")
                table.setdefault(full_name(name, renamed), []).append(source.stem)
        for pattern in ERRORS:
            for name in pattern.findall(code):
                checks.errors.setdefault(full_name(name, renamed), []).append(source.stem)
    return checks
