"""The expectations in a program's first lines, compared with an analysis.

    # graphkit: warning deferred-record-stream 7 MiB :14      a finding: severity, check, bytes, the line that it names
    # graphkit: note late-free                                bytes and line may be left out
    # graphkit: warning frozen-argument :68 'argument 2'       words of its message
    # graphkit: error capture-invalidated :14 in utils.py:206  the library's line that the stack with that line has
    # graphkit: note late-free not torch-2.8                  not where the program runs with that one
    # graphkit: nothing                                       no warning, no error
    # fixed: note reuse-opportunity 1 MiB; …                  the twin's findings of a check that is listed

A program lists all warnings and errors, and the notes that it is about. One that knows the argument `fixed` is its own twin
without the fault: run with it, it gives no warning and no error, and none of the checks that are listed but those of `# fixed:`.
"""

import re

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LINE = re.compile(r"(?P<severity>note|warning|error) (?P<check>[a-z-]+)(?: (?P<number>[0-9.]+) (?P<unit>[KMG]?i?B))?(?: :(?P<line>[0-9]+))?(?: in (?P<library>\S+:[0-9]+))?(?: '(?P<text>[^']+)')?(?: not (?P<environment>\S+))?$")


class Failed(Exception):
    """A failure, in a line."""


def headings(program, name):
    """The values after `# name: ` in the program's first lines."""
    values = []
    for line in program.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        if line.startswith(f"# {name}: "):
            values.append(line.removeprefix(f"# {name}: ").strip())
    return values


def heading(program, name):
    """The words after `# name:` in the program's first lines; None: there is no such line."""
    values = headings(program, name)
    return " ".join(values).split() if values else None


def processes(program):
    """How many leave a trace each, where the program has a line about that: `# traces: N`, or `# torchrun: N` for ranks."""
    number = heading(program, "torchrun") or heading(program, "traces")
    return int(number[0]) if number else None


def started(python, program, *words):
    """The command that runs it with these words before its name: by torchrun where it has ranks."""
    ranks = heading(program, "torchrun")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", *ranks] if ranks else []
    return [python, *torchrun, *words, program.resolve()]


def expected_findings(program, fixed=False):
    """None: the program expects nothing in particular. Else the matches of LINE."""
    said = headings(program, "graphkit")
    if not said:
        return None
    if fixed:
        said = [text for line in headings(program, "fixed") for text in line.split("; ")]
    elif said == ["nothing"]:
        return []
    matches = [LINE.match(text) for text in said]
    for text, match in zip(said, matches):
        if match is None:
            raise Failed(f"'# graphkit: {text}' isn't a finding")
    return matches


def variants(program):
    """The variants to run: the program, and its fixed twin where it has one."""
    return (False, True) if '["fixed"]' in program.read_text(encoding="utf-8") else (False,)


def own_lines(finding, program):
    """The lines of the program that a finding names: of each stack the innermost one."""
    for evidence in finding["evidence"]:
        own = [frame["line"] for frame in evidence["stack"] if not frame["library"] and frame["file"].endswith(program.name)]
        yield from own[:1]


def library_lines(finding):
    """The files and lines of libraries that a finding's stacks name."""
    frames = [frame for evidence in finding["evidence"] for frame in evidence["stack"]]
    return {f"{frame['file'].rpartition('/')[2]}:{frame['line']}" for frame in frames if frame["library"]}


def is_as_expected(finding, expected, program):
    if (finding["severity"], finding["check"]) != (expected["severity"], expected["check"]):
        return False
    if expected["number"]:
        unit, digits = UNITS[expected["unit"]], len(expected["number"].partition(".")[2])
        if abs(finding["bytes"] / unit - float(expected["number"])) > 0.501 * 10**-digits:
            return False
    if expected["text"] and expected["text"] not in finding["message"]:
        return False
    if expected["library"] and expected["library"] not in library_lines(finding):
        return False
    return not expected["line"] or int(expected["line"]) in own_lines(finding, program)


def told(finding, program):
    lines = " ".join(f":{line}" for line in sorted(set(own_lines(finding, program))))
    return f"{finding['severity']} {finding['check']} of {finding['bytes']} B {lines}: {finding['message']}"


def compare_findings(program, report, fixed=False, environment=None):
    """Each expected finding is there, and no warning or error but those; nor, in a twin, what the program is about."""
    expected = [match for match in expected_findings(program, fixed) if environment is None or match["environment"] != environment]
    planted = {match["check"] for match in expected_findings(program)} if fixed else set()
    listed = planted | {match["check"] for match in expected}
    left = [finding for finding in report["findings"] if finding["severity"] != "note" or finding["check"] in listed]
    for match in expected:
        found = next((finding for finding in left if is_as_expected(finding, match, program)), None)
        if found is None:
            there = "; ".join(told(finding, program) for finding in left) or "nothing"
            raise Failed(f"'{match[0]}' isn't found; there is {there}")
        left.remove(found)
    left = [finding for finding in left if fixed or finding["severity"] != "note"]
    if left:
        raise Failed("found but not expected: " + "; ".join(told(finding, program) for finding in left))


def compare_ranks(report, program, fixed=False):
    """Compares the traces of several ranks together: each expected finding, with the line that it names first, and no
    other of collectives."""
    expected = [LINE.match(text) for text in headings(program, "ranks")]
    left = [finding for finding in report.get("findings", []) if finding["check"] in ("collective-order", "collective-size")]
    for match in [] if fixed else expected:
        place = f"({program.name}:{match['line']}) as operation" if match["line"] else ""
        found = next((finding for finding in left if (finding["severity"], finding["check"]) == (match["severity"], match["check"])
                      and place in finding["message"]), None)
        if found is None:
            raise Failed(f"'{match[0]}' isn't found of the ranks; there is {[finding['message'] for finding in left] or 'nothing'}")
        left.remove(found)
    if left:
        raise Failed("found of the ranks but not expected: " + "; ".join(finding["message"] for finding in left))


def compare_coverage(program, coverage, fixed):
    """`# coverage: 82.6%|85.2% 100.0%`: of kernel launches, that run in graphs; of the program (with one version of PyTorch or
    another), and of its twin. `# eager: optimizer`: the NVTX ranges of the program of which nothing does."""
    share, wanted = coverage["kernel_share"], heading(program, "coverage")[1 if fixed else 0]
    found = "unknown" if share is None else f"{100 * share:.1f}%"
    if found not in wanted.split("|"):
        raise Failed(f"its coverage is {found}; expected: {wanted}")
    eager = [of["name"] for of in coverage["by_range"] if of["in_graphs"]["kernels"] == 0]
    expected = [] if fixed else heading(program, "eager") or []
    if sorted(eager) != sorted(expected):
        raise Failed(f"the ranges {eager} have nothing in graphs; expected: {expected}")


def compare_kept(program, report, fixed):
    """`# kept: 6291968 512`: the bytes of the graphs' blocks that are kept between replays; of the program, and of its twin."""
    wanted = heading(program, "kept")
    found = str(sum(graph["never_freed_bytes"] for graph in report["graphs"]))
    if wanted and found not in wanted[1 if fixed else 0].split("|"):
        raise Failed(f"its graphs keep {found} B; expected: {wanted[1 if fixed else 0]}")


def compare_content(program, bill, fixed):
    """`# content: input:38:8192 …`: of memory that a sleep would drop, or bring back, the class, the line that wrote or allocated
    it, and the bytes; of the program, and in a second such line of its twin. Scratch and what is unknown aren't listed."""
    known = [row for row in bill["rows"] if row["class"] not in ("scratch", "unknown")]
    places = [re.search(rf"{program.name}(:[0-9]+)", row.get("written_at") or row.get("allocated_at") or "") for row in known]
    found = sorted(f"{row['class']}{place[1] if place else ''}:{row['bytes']}" for row, place in zip(known, places))
    wanted = headings(program, "content")[1 if fixed else 0].split()
    if found != sorted(wanted):
        raise Failed(f"its content is {' '.join(found)}; expected: {' '.join(wanted)}")


def compare_paused(said, bill):
    """Lines `paused: BYTES CLASS…` of the program: what it gave back for a while, and the classes that these bytes have. Within 1 %."""
    known = {**bill["bytes_by_class"], "untouched": bill["idle_bytes"]}
    for line in said:
        wanted, *classes = line.split()
        found = sum(known[name] for name in classes)
        if abs(found - int(wanted)) * 100 > int(wanted):
            raise Failed(f"{' and '.join(classes)} have {found} B; the program gave back {wanted} B")


def compare_bounds(report, replay):
    """No placement that was verified is smaller than what no placement can be: a policy's own bound, of all graphs and of each,
    and each graph's bound where it rests on the same assumption (kernels access only memory passed as arguments). A graph with
    several pools may have one of the host, which isn't replayed."""
    of_graphs = {graph["id"]: graph["lower_bound_bytes"] or 0 if len(graph["pools"]) == 1 else 0 for graph in report["graphs"]}
    for policy in replay["policies"]:
        extents = [("all graphs", policy["peak_extent_bytes"], policy["lower_bound_bytes"])]
        for graph in policy["graphs"]:
            extents.append((f"graph {graph['id']}", graph["peak_extent_bytes"], graph["lower_bound_bytes"]))
            if policy["assumes"] == "arguments":
                extents.append((f"graph {graph['id']}", graph["peak_extent_bytes"], of_graphs[graph["id"]]))
        for what, extent, bound in extents:
            if policy["verified"] and extent < bound:
                raise Failed(f"{policy['policy']} was verified with {extent} B for {what}, below the bound of {bound} B")
