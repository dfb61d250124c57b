"""Writes the entry points of a library of CUDA 12: the same functions as CUDA 13's, called in older ways.

    generate12.py runtime|cupti TABLE TABLE12 INCLUDE_DIR CUPTI_INCLUDE_DIR OUT_DIR

TABLE lists what the library of CUDA 13 exports, TABLE12 how CUDA 12's differs (its header line explains how). The
headers are CUDA 13's: CUPTI's still have the parameters of the forms that the runtime no longer exports. Written are
  runtime12_impl.h       a declaration of each older form, which runtime12/ defines
  runtime12_entries.cpp  the exported functions
  cupti12_entries.cpp    refusals of what isn't modelled
  cupti12_runtime_names.inc  callback names: where CUDA 13 took a suffix from a function, CUDA 12's has it
"""

import pathlib
import re
import sys

import generate


def merged(table, table12):
    """The rows of CUDA 12's library: {name: Row}."""
    rows = {row.name: row for row in generate.read_table(table)}
    rows.update({row.name: row for row in generate.read_table(table12)})
    return {name: row for name, row in sorted(rows.items()) if row.family != "absent"}


def twin_suffix(name):
    return name[len(generate.base_of(name)):]


def versioned(key, suffix):
    """cudaFoo_v10010 and _ptsz: cudaFoo_ptsz_v10010."""
    name, version = key.rsplit("_v", 1)
    return f"{name}{suffix}_v{version}"


class Runtime(generate.Library):
    def __init__(self, table, table12, include, cupti):
        super().__init__("runtime", table, include, cupti)
        self.by_name = merged(table, table12)
        self.rows = list(self.by_name.values())
        removed = (cupti / "generated_cudart_removed_meta.h").read_text()
        self.old = generate.read_parameters(re.sub(r"\s+__dv\b", "", removed))

    def options(self, name):
        return self.by_name.get(generate.base_of(name), self.by_name[name]).options

    def as_in_13(self, name):
        return self.options(name).get("like", generate.base_of(name)) + twin_suffix(name)

    def form(self, name):
        """Parameters, definition and callback id of an export."""
        options = self.options(name)
        if "params" in options:
            key = versioned(options["params"], twin_suffix(name))
            known = self.old.get(key) or self.old[options["params"]]
            count = int(options.get("count", len(known.names)))
            parameters = generate.Parameters("Params_" + name, known.declarations[:count], known.names[:count])
            return parameters, "runtime12::" + options["params"].removeprefix("cuda"), self.cbids.get(key, "0")
        target = self.as_in_13(name)
        parameters = super().parameters_of(target)
        if not parameters.declarations:
            parameters = super().parameters_of(generate.base_of(target))
        space = "runtime12" if "own" in options else "runtime"
        return parameters, f"{space}::{self.short(target)}", self.cbid_of(target)

    def implementation_header(self):
        out = ["// Generated from runtime12.table: what the files of runtime12/ define.", "#pragma once", "",
               "#include <cuda_runtime_api.h>", "", "namespace graphkit::soft::runtime12 {"]
        for row in self.rows:
            if row.name == generate.base_of(row.name) and self.modelled(row.name):
                parameters, function, _ = self.form(row.name)
                if function.startswith("runtime12::"):
                    out.append(f"cudaError_t {function.removeprefix('runtime12::')}({', '.join(parameters.declarations)});")
        return "\n".join(out + ["}  // namespace graphkit::soft::runtime12", ""])

    def entry(self, row):
        name, options = row.name, self.options(row.name)
        if "custom" in options:
            return ""
        head = f'EXPORT cudaError_t entry_{name}('
        if not self.modelled(name):
            return (f'{head}) __asm__("{name}");\n'
                    f'cudaError_t entry_{name}() {{ return NotModelledHere("{name}", __builtin_return_address(0)); }}\n')
        p, function, cbid = self.form(name)
        declarations = ", ".join(p.declarations)
        structure = ""
        if p.struct.startswith("Params_"):
            structure = f"struct {p.struct} {{ {' '.join(d + ';' for d in p.declarations)} }};\n"
        params = f"{p.struct} params{{{', '.join(p.names)}}};\n  " if p.struct else ""
        flags = "|".join(f"k{f.capitalize()}" for f in ("early", "noctx", "nolatch") if f in options) or "0"
        symbol = f"SymbolOf({options['symbol']})" if "symbol" in options else "nullptr"
        return (f'{structure}{head}{declarations}) __asm__("{name}");\n'
                f"cudaError_t entry_{name}({declarations}) {{\n  {params}"
                f'static constexpr CallSite kSite{{{cbid}, "{generate.base_of(name)}", {flags}}};\n'
                f"  return Call(kSite, {'&params' if params else 'nullptr'}, [&] {{ return {symbol}; }},\n"
                f"              [&] {{ return {function}({self.arguments(name, p)}); }});\n}}\n")

    def entries(self):
        return super().entries().replace("// Generated from runtime.table.", "// Generated from runtime12.table.").replace(
            '#include "runtime_impl.h"', '#include "runtime12_impl.h"\n#include "runtime_impl.h"')

    def version(self):
        return ["const int runtime::kRuntimeVersion = 12090;"]

    def callback_names(self):
        """{number: name}, as cupti_runtime_cbid.h of CUDA 12 has them."""
        names = {int(number): label for label, number in self.cbids.items()}
        for row in self.rows:
            if "like" in self.options(row.name):
                number = int(self.cbid_of(self.as_in_13(row.name)))
                version = names[number].rsplit("_v", 1)[1]
                names[number] = f"{row.name}_v{version}"
        return names


def write_runtime(library, out):
    (out / "runtime12_impl.h").write_text(library.implementation_header())
    (out / "runtime12_entries.cpp").write_text(library.entries())
    names = library.callback_names()
    (out / "cupti12_runtime_names.inc").write_text(
        "".join(f'{{{number}, "{name}"}},\n' for number, name in sorted(names.items())
                if name not in ("SIZE", "INVALID", "FORCE_INT")))


def main():
    kind, table, table12, include, cupti, out = sys.argv[1], *map(pathlib.Path, sys.argv[2:7])
    out.mkdir(parents=True, exist_ok=True)
    if kind == "runtime":
        return write_runtime(Runtime(table, table12, include, cupti), out)
    (out / "cupti12_entries.cpp").write_text(generate.cupti_refusals(merged(table, table12).values()))


if __name__ == "__main__":
    main()
