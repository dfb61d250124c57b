"""Compares a report with what a story expects of it. A story says what it knows; other keys may hold anything."""

KIB = 1024
MIB = 1024 * KIB


def differences(expected, got, where):
    """One line for each value of `expected` that `got` doesn't have."""
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return [f"{where}: expected an object, got {got!r}"]
        lines = [line for key, value in expected.items()
                 for line in differences(value, got.get(key), f"{where}.{key}")]
        if where.endswith("nodes_by_type"):  # a story that counts kinds knows all of them
            lines += [f"{where}.{key}: expected nothing, got {got[key]!r}" for key in got if key not in expected]
        return lines
    return [] if expected == got else [f"{where}: expected {expected!r}, got {got!r}"]


def graph_differences(story, report):
    """The graphs that the program made itself, in their order; `others` counts the rest by origin."""
    own = [graph for graph in report["graphs"] if graph["origin"] in ("capture", "explicit")]
    if len(own) != len(story.GRAPHS):
        return [f"graphs: expected {len(story.GRAPHS)}, got {len(own)}: {[g['nodes'] for g in own]} nodes"]
    lines = []
    for number, (expected, got) in enumerate(zip(story.GRAPHS, own)):
        lines += differences(expected, got, f"graphs[{number}]")
    return lines


def finding_differences(story, report):
    """Every finding that the story names must be there, as often as it names it; of the checks in NO_OTHER ("*": of all) no more."""
    no_other = getattr(story, "NO_OTHER", ())
    lines = []
    left = list(report["findings"])
    for expected in getattr(story, "FINDINGS", []):
        match = next((f for f in left if not differences(expected, f, "")), None)
        if match is None:
            lines.append(f"findings: none is {expected}; there are {[(f['check'], f['bytes']) for f in left]}")
        else:
            left.remove(match)
    return lines + [f"findings: unexpected {f['check']}: {f['message']}"
                    for f in left if no_other == "*" or f["check"] in no_other]


def report_differences(story, report):
    lines = differences({"schema": "graphkit-analyze", "device": "soft", "complete": True}, report, "report")
    lines += graph_differences(story, report)
    lines += differences(getattr(story, "TOTALS", {}), report["totals"], "totals")
    return lines + finding_differences(story, report)
