"""What a program says of itself in its first lines, and whether an analysis says the same."""


class Failed(Exception):
    """What went wrong, in a line."""


def heading(program, name):
    """The words after `# name:` in the program's first lines; None: there is no such line."""
    for line in program.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            return None
        if line.startswith(f"# {name}: "):
            return line.split()[2:]
    return None


def compare_findings(expected, report):
    """`expected`: the checks of all findings that are warnings or errors, or "nothing"."""
    grave = [finding for finding in report["findings"] if finding["severity"] != "note"]
    if sorted(finding["check"] for finding in grave) != sorted(set(expected) - {"nothing"}):
        told = "; ".join(f"{finding['check']}: {finding['message']}" for finding in grave) or "nothing"
        raise Failed(f"found {told}, where {' '.join(expected)} is expected")
