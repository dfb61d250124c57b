"""Writes the entry points of one library of the software device.

    generate.py runtime|driver|cupti TABLE CHECKED INCLUDE_DIR CUPTI_INCLUDE_DIR OUT_DIR

TABLE is the one list of what the library exports (its header line explains the columns), CHECKED which conformance
program checks a function (a test compares it with the programs). The parameters of each
function come from the CUDA headers, the parameter structs that CUPTI hands to tools, and from newer_<library>.h for
functions that these headers don't have yet. Written are
  <library>_impl.h       a declaration of each modelled function, which driver/ or runtime/ defines
  runtime_forwards.cpp   the functions of the runtime that are one of the driver's
  <library>_entries.cpp  the exported functions: callbacks, error latch, and 'not modelled' for the rest
  <library>_inventory.inc  one row per export: {name, family, test, seen on hardware}
  <library>_errors.inc   error codes and names
CUPTI's functions are written by hand; for it only the refusals, the inventory and the names are generated.
For the driver there is also driver_symbols.inc: {base name, version, address, per-thread address} for cuGetProcAddress.
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field


@dataclass
class Row:
    name: str
    family: str
    seen: str
    options: dict = field(default_factory=dict)


@dataclass
class Parameters:
    struct: str  # the CUPTI parameter struct; empty where the header has none
    declarations: list  # ["CUgraph *phGraph", ...]
    names: list


LIBRARIES = {
    "runtime": {"prefix": "cuda", "result": "cudaError_t", "meta": "generated_cuda_runtime_api_meta.h",
                "cbids": "cupti_runtime_cbid.h", "cbid": "CUPTI_RUNTIME_TRACE_CBID_", "stream": "cudaStream_t"},
    "driver": {"prefix": "cu", "result": "CUresult", "meta": "generated_cuda_meta.h",
               "cbids": "cupti_driver_cbid.h", "cbid": "CUPTI_DRIVER_TRACE_CBID_", "stream": "CUstream"},
}


DEVICE_VERSION = 13000  # which has the functions of newer_driver.h all the same

ERROR_TEXTS = {0: "no error", 1: "invalid argument", 2: "out of memory", 3: "initialization error",
               98: "invalid device function", 101: "invalid device ordinal", 400: "invalid resource handle",
               401: "the operation cannot be performed in the present state", 500: "named symbol not found",
               600: "device not ready", 801: "operation not supported",
               900: "operation not permitted when stream is capturing",
               901: "operation failed due to a previous error during capture",
               904: "capturing stream has unjoined work"}


def read_table(path):
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            name, family, seen = words[:3]
            options = dict(o.partition("=")[::2] for o in words[3:])
            yield Row(name, family, seen, options)


def read_parameters(text):
    """{struct name without _params: Parameters}"""
    found = {}
    for struct, body in re.findall(r"typedef struct (\w+)_params_st \{(.*?)\}", text, re.S):
        declarations = [d.strip() for d in body.split(";") if d.strip()]
        found[struct] = Parameters(struct + "_params", declarations,
                                   [re.findall(r"\w+", d)[-1] for d in declarations])
    return found


def newest(name, table, versioned):
    """The entry of `table` for `name`; runtime names carry a version, of which the newest counts."""
    if not versioned:
        return name if name in table else None
    hits = [k for k in table if re.fullmatch(re.escape(name) + r"_v\d+", k)]
    return max(hits, key=lambda k: int(k.rsplit("_v", 1)[1])) if hits else None


def base_of(name):
    return re.sub(r"_ptsz$|_ptds$", "", name)


class Library:
    def __init__(self, kind, table, include, cupti):
        self.kind, self.info = kind, LIBRARIES[kind]
        self.rows = list(read_table(table))
        self.by_name = {r.name: r for r in self.rows}
        newer = pathlib.Path(__file__).parent / f"newer_{kind}.h"
        self.parameters = read_parameters(newer.read_text()) | read_parameters((include / self.info["meta"]).read_text())
        text = (cupti / self.info["cbids"]).read_text()
        self.cbids = dict(re.findall(self.info["cbid"] + r"(\w+)\s*=\s*(\d+)", text))

    def parameters_of(self, name):
        key = newest(name, self.parameters, self.kind == "runtime")
        return self.parameters[key] if key else Parameters("", [], [])

    def cbid_of(self, name):
        key = newest(name, self.cbids, self.kind == "runtime")
        return self.cbids.get(key, "0")

    def short(self, name):
        return re.sub("^" + self.info["prefix"], "", base_of(name))

    def modelled(self, name):
        row = self.by_name.get(base_of(name))
        return row is not None and row.family != "-"

    def implementation_header(self):
        out = [f'// Generated from {self.kind}.table: what the files of {self.kind}/ define.', "#pragma once", ""]
        out += [f'#include "plugins/soft_cuda/abi/newer_{self.kind}.h"', ""]
        out.append(f"namespace graphkit::soft::{self.kind} {{")
        for row in self.rows:
            if row.family != "-" and row.name == base_of(row.name) and "custom" not in row.options:
                declarations = ", ".join(self.parameters_of(row.name).declarations)
                out.append(f"{self.info['result']} {self.short(row.name)}({declarations});")
        return "\n".join(out + [f"}}  // namespace graphkit::soft::{self.kind}", ""])

    def forwards(self):
        """The runtime's functions that the table says are one of the driver's."""
        out = ["// Generated from runtime.table.", '#include "plugins/soft_cuda/runtime/forward.h"', '#include "runtime_impl.h"', "",
               "namespace graphkit::soft::runtime {"]
        for row in self.rows:
            if "driver" in row.options:
                p, short = self.parameters_of(row.name), self.short(row.name)
                arguments = ", ".join(f"As({n})" for n in p.names)
                out.append(f"cudaError_t {short}({', '.join(p.declarations)}) {{\n"
                           f"  return ToRuntime({row.options['driver'] or 'cu' + short}({arguments}));\n}}")
        return "\n".join(out + ["}  // namespace graphkit::soft::runtime", ""])

    def arguments(self, name, parameters):
        """The arguments that the entry passes on: in per-thread entries the null stream is the thread's own."""
        if name == base_of(name):
            return ", ".join(parameters.names)
        per_thread = rf"({self.info['stream']}|const cudaLaunchConfig_t|const CUlaunchConfig) ?\W\w+$"
        if name.startswith("cudaGetDriverEntryPoint"):
            per_thread = r"unsigned long long flags$"
        return ", ".join(f"PerThread({n})" if re.match(per_thread, d) else n
                         for d, n in zip(parameters.declarations, parameters.names))

    def entry(self, row):
        name, result = row.name, self.info["result"]
        base = self.by_name.get(base_of(name), row)
        if "custom" in base.options:
            return ""
        if not self.modelled(name):
            refusal = "NotModelledHere" if self.kind == "runtime" else f"NotModelled<{result}>"
            return (f'EXPORT {result} entry_{name}() __asm__("{name}");\n'
                    f'{result} entry_{name}() {{ return {refusal}("{name}", __builtin_return_address(0)); }}\n')
        p = self.parameters_of(name)
        if not p.declarations:  # a per-thread twin without a struct of its own has that of its base
            p = self.parameters_of(base_of(name))
        flags = "|".join(f"k{f.capitalize()}" for f in ("early", "noctx", "nolatch") if f in base.options) or "0"
        symbol = f"SymbolOf({base.options['symbol']})" if "symbol" in base.options else "nullptr"
        params = f"{p.struct} params{{{', '.join(p.names)}}};\n  " if p.struct else ""
        declarations = ", ".join(p.declarations)
        return (f'EXPORT {result} entry_{name}({declarations}) __asm__("{name}");\n'
                f"{result} entry_{name}({declarations}) {{\n  {params}"
                f'static constexpr CallSite kSite{{{self.cbid_of(base.options.get("as", name))}, "{base.options.get("as", base_of(name))}", {flags}}};\n'
                f"  return Call(kSite, {'&params' if params else 'nullptr'}, [&] {{ return {symbol}; }},\n"
                f"              [&] {{ return {self.kind}::{self.short(name)}({self.arguments(name, p)}); }});\n}}\n")

    def entries(self):
        return "\n".join([f"// Generated from {self.kind}.table.",
                          "#define __CUDA_API_VERSION_INTERNAL  // the parameter structs use the old types, too",
                          f'#include "plugins/soft_cuda/{self.kind}/call.h"', f'#include "{self.kind}_impl.h"', "",
                          f'#include "{self.info["meta"]}"', "",
                          "namespace graphkit::soft {", "namespace {", f"using namespace {self.kind};",
                          "}  // namespace", ""] +
                         [self.entry(r) for r in self.rows] + self.version() + ["}  // namespace graphkit::soft", ""])

    def version(self):
        return ["const int runtime::kRuntimeVersion = CUDART_VERSION;"] if self.kind == "runtime" else []

    def inventory(self, checked):
        return "".join(inventory_row(r.name, self.by_name.get(base_of(r.name), r).family if self.modelled(r.name) else "-",
                                     checked, r.seen) for r in self.rows)


def read_checked(path):
    """{function: the conformance program that checks it}"""
    lines = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    return {words[0]: words[1] for words in lines if words}


def inventory_row(name, family, checked, seen):
    test = checked.get(name, "-") if family != "-" else "-"
    return f'{{"{name}", "{family}", "{test}", {"true" if seen == "yes" else "false"}}},\n'


def symbol_rows(library, include):
    """The k-th version of a function in cudaTypedefs.h is its k-th symbol by suffix."""
    typedefs = (include / "cudaTypedefs.h").read_text()
    versions = {}
    for name, version in re.findall(r"\(CUDAAPI \*PFN_(cu\w+?)_v(\d+)\)", typedefs):
        versions.setdefault(name, set()).add(int(version))
    exported = library.by_name
    for name in sorted(versions):
        symbols = [s for s in [name] + [f"{name}_v{k}" for k in range(2, 9)] if s in exported]
        known = sorted(versions[name])
        for version, symbol in list(zip(reversed(known), reversed(symbols)))[::-1]:
            twin = next((symbol + t for t in ("_ptsz", "_ptds") if symbol + t in exported), symbol)
            yield name, version, symbol, twin
    for row in library.rows:  # cuProfilerStart has its typedef in a header that not every toolkit has
        name = row.name
        if library.modelled(name) and name == base_of(name) and not re.search(r"_v\d+$", name) and name not in versions:
            yield name, DEVICE_VERSION if "newer" in row.options else 0, name, name


def symbols(library, include):
    rows = list(symbol_rows(library, include))
    used = sorted({s for r in rows for s in r[2:]})
    out = ["// Generated from cudaTypedefs.h and driver.table."]
    out += [f'extern "C" void symbol_{s}() __asm__("{s}");' for s in used]
    out.append("constexpr Symbol kSymbols[] = {")
    out += [f'    {{"{n}", {v}, &symbol_{s}, &symbol_{t}}},' for n, v, s, t in rows]
    return "\n".join(out + ["};", ""])


def error_rows(kind, include):
    """Names come from the enum; the text of a driver error is its name in words."""
    if kind == "driver":
        text = (include / "cuda.h").read_text()
        body = text[text.index("typedef enum cudaError_enum"):].split("} CUresult")[0]
        for name, code in re.findall(r"(CUDA_\w+)\s*=\s*(\d+)", body):
            words = name.replace("CUDA_ERROR_", "").replace("CUDA_", "").replace("_", " ").lower()
            yield f'{{{code}, "{name}", "{ERROR_TEXTS.get(int(code), words)}"}},'
    else:
        text = (include / "driver_types.h").read_text()
        body = re.search(r"enum __device_builtin__ cudaError\s*\{(.*?)\n\};", text, re.S).group(1)
        for name, code in re.findall(r"(cuda\w+)\s*=\s*(\d+)", body):
            yield f'{{{code}, "{name}"}},'


def cupti_refusals(rows):
    lines = ['#include "plugins/soft_cuda/abi/api_call.h"', "", "constexpr int kCuptiNotSupported = 27;  // CUPTI_ERROR_NOT_SUPPORTED",
             "", "using graphkit::soft::SharedState;", ""]
    for r in rows:
        if r.family == "-":
            result = "0" if r.name.startswith("InitializeInjection") else "kCuptiNotSupported"  # NVTX takes 0 for failed
            lines.append(f'EXPORT int entry_{r.name}() __asm__("{r.name}");\n'
                         f'int entry_{r.name}() {{ return SharedState().not_modelled("{r.name}", __builtin_return_address(0)), {result}; }}')
    return "\n".join(lines) + "\n"


def write_cupti(table, cupti, out, checked):
    rows = list(read_table(table))
    out.mkdir(parents=True, exist_ok=True)
    (out / "cupti_entries.cpp").write_text(cupti_refusals(rows))
    (out / "cupti_inventory.inc").write_text("".join(inventory_row(r.name, r.family, checked, r.seen) for r in rows))
    for name, header, prefix in (("runtime", "cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_"),
                                 ("driver", "cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_"),
                                 ("resource", "cupti_callbacks.h", "CUPTI_CBID_RESOURCE_"),
                                 ("result", "cupti_result.h", "CUPTI_")):
        text = (cupti / header).read_text()
        keep = prefix if name == "result" else ""
        hits = dict((number, label) for label, number in re.findall(rf"\b{prefix}(\w+)\s*=\s*(\d+)\s*,", text)
                    if label not in ("SIZE", "INVALID", "FORCE_INT"))
        (out / f"cupti_{name}_names.inc").write_text("".join(f'{{{n}, "{keep}{l}"}},\n' for n, l in hits.items()))


def main():
    kind, table, checked, include, cupti, out = sys.argv[1], *map(pathlib.Path, sys.argv[2:7])
    checked = read_checked(checked)
    if kind == "cupti":
        return write_cupti(table, cupti, out, checked)
    library = Library(kind, table, include, cupti)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{kind}_impl.h").write_text(library.implementation_header())
    (out / f"{kind}_entries.cpp").write_text(library.entries())
    (out / f"{kind}_inventory.inc").write_text(library.inventory(checked))
    (out / f"{kind}_errors.inc").write_text("\n".join(error_rows(kind, include)) + "\n")
    if kind == "runtime":
        (out / "runtime_forwards.cpp").write_text(library.forwards())
    if kind == "driver":
        (out / "driver_symbols.inc").write_text(symbols(library, include))


if __name__ == "__main__":
    main()
