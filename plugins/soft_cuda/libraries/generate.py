"""Writes what a library that stands in for one of NVIDIA's exports and doesn't model, and which version of CUDA it is of.

    generate.py TABLE VERSION OUT.cpp

TABLE is the one list of what the library exports. First what is modelled, one function a line, then the names of the rest:
    name  modelled   [versions of CUDA that have it, with commas; none: all]
    refused [versions]:
      name name …
What is modelled is defined by hand, in C linkage; the rest is generated: it names itself once on stderr and returns the
status `refusal` of the table's head. `graphkit_stand_in_inventory` lists all of them, for `graphkit doctor --soft`. A function
that is called modelled and isn't defined doesn't link.
"""

import pathlib
import sys


def read(table, version):
    refusal, rows, refused = None, [], None  # refused: are the names that follow of this version?
    for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "refusal":
            refusal = int(words[1])
        elif line.startswith("refused"):
            versions = line[len("refused"):].strip(" :")
            refused = not versions or version in versions.split(",")
        elif refused is not None:
            rows += [(name, "-") for name in words if refused]
        else:
            assert words[1] == "modelled", f"{table}: '{line}' isn't 'name modelled [versions]'"
            if len(words) < 3 or version in words[2].split(","):
                rows.append((words[0], words[1]))
    assert refusal is not None, f"{table}: no line 'refusal STATUS'"
    return refusal, sorted(rows)


def main():
    table, version, out = sys.argv[1:]
    refusal, rows = read(table, version)
    lines = [f"// Generated from {pathlib.Path(table).name}.",
             '#include "plugins/soft_cuda/abi/inventory.h"', '#include "plugins/soft_cuda/libraries/refuse.h"', "", 'extern "C" {']
    lines += [f"}}  // C\nconst int graphkit::soft::kCudaMajor = {version};\nextern \"C\" {{"]
    lines += [f'STAND_IN int {name}() {{ return graphkit::soft::Refuse("{name}", {refusal}, __builtin_return_address(0)); }}'
              for name, kind in rows if kind == "-"]
    modelled = [name for name, kind in rows if kind == "modelled"]
    inventory = [f'    {{"{name}", "{"library" if kind == "modelled" else "-"}", "-", false}},' for name, kind in rows]
    lines += [f"void {name}();" for name in modelled]
    lines += ["extern void (*const graphkit_modelled[])();", "void (*const graphkit_modelled[])() = {"]
    lines += [f"    {name}," for name in modelled]
    lines += ["    nullptr};", "static const graphkit_soft_function rows[] = {", *inventory, "};",
              "STAND_IN size_t graphkit_stand_in_inventory(const graphkit_soft_function** out) {",
              "  return *out = rows, sizeof rows / sizeof *rows;", "}", "}", ""]
    pathlib.Path(out).write_text("\n".join(lines), encoding="utf-8")


main()
