"""Faults of memory that a traced program has, and correct programs that have none (memory_faults.cu)."""

import json
import subprocess

from harness import BUILD, Skipped, trace

# The class of the content that a program names, and that of its twin.
CONTENT = {"copied-once": ("constant", "input"), "copied-in-part": ("constant", "input"), "filled-aside": ("state", "input"),
           "read-afterwards": ("output", "scratch"), "counts-on": ("state", "input"),
           "rewritten-by-another": ("state", "constant"), "kept-output": ("output", "scratch"),
           "filled-in-body": ("state", "scratch")}
LENT = ("copy-reads", "filled-before", "filled-in-capture", "kept-to-the-end", "kept-over-update")
# Of bytes that must not be lent, the class of their content; their twins' may be dropped. A block that is made after the last
# launch has no content at the end of one.
LENT_CONTENT = {"copy-reads": "state", "filled-before": "constant", "filled-in-capture": "unknown", "kept-to-the-end": "scratch",
                "kept-over-update": "output"}


def traced(folder, fault, *words, options=()):
    program = BUILD / "tests/memory_faults"
    if not program.exists():
        raise Skipped("no nvcc (tools/setup.sh test)")
    code, out, err = trace(folder, program, fault, *words, options=["-o", "trace.json", *options])
    assert code == 0, err
    return out


def graphkit(folder, *words):
    return json.loads(subprocess.run([BUILD / "bin/graphkit", *words], cwd=folder, capture_output=True, text=True,
                                     check=False).stdout)


def findings(folder, check):
    """The severities of a check's findings."""
    found = graphkit(folder, "analyze", "trace.json", "--format", "json")["findings"]
    return [finding["severity"] for finding in found if finding["check"] == check]


def lent(folder, out):
    """Which of the ranges that the program names may be borrowed, all of their bytes."""
    free = [(r["address"], r["address"] + r["size"])
            for pool in graphkit(folder, "survive", "trace.json", "--format", "json")["pools"] for r in pool["ranges"]]
    names = []
    for line in out.splitlines():
        _, name, address, size = line.split()
        begin = int(address, 16)
        if any(low <= begin and begin + int(size) <= high for low, high in free):
            names.append(name)
    return names


def test_what_launches_or_the_program_need_is_not_lent(folder):
    for fault in LENT:
        assert lent(folder, traced(folder, fault)) == [], fault
        out = traced(folder, fault, "--twin")
        assert lent(folder, out) == [line.split()[1] for line in out.splitlines()], f"{fault} --twin"


def content(folder, out, word="content"):
    """The classes of the bytes that the program names."""
    _, _, address, size = next(line for line in out.splitlines() if line.startswith(word)).split()
    begin, end = int(address, 16), int(address, 16) + int(size)
    found = graphkit(folder, "survive", "trace.json", "--format", "json")
    assert sum(found["bytes_by_class"].values()) == found["touched_bytes"] == sum(row["bytes"] for row in found["rows"])
    assert found["touched_bytes"] == sum(of["size"] for of in found["ranges"])
    return {of["class"] for of in found["ranges"] if of["address"] < end and begin < of["address"] + of["size"]}


def test_content_lives_as_the_program_uses_it(folder):
    for fault, (planted, twin) in CONTENT.items():
        for words, expected in (((), planted), (("--twin",), twin)):
            out = traced(folder, fault, *words, options=["--scope", "all"])
            assert content(folder, out) == {expected}, f"{fault} {words}: {content(folder, out)}"


def test_what_is_not_lent_is_not_dropped_where_it_has_content(folder):
    for fault, expected in LENT_CONTENT.items():
        for words, wanted in (((), expected), (("--twin",), "scratch")):
            out = traced(folder, fault, *words, options=["--scope", "all"])
            assert content(folder, out, "lent") == {wanted}, f"{fault} {words}: {content(folder, out, 'lent')}"


def test_a_copy_over_two_blocks_races_with_what_writes_the_second(folder):
    traced(folder, "copy-races")
    assert findings(folder, "missing-order") == ["error"]
    traced(folder, "copy-races", "--twin")
    assert findings(folder, "missing-order") == []


def test_a_word_of_a_structure_is_no_sure_access(folder):
    def verified():
        replayed = graphkit(folder, "replay", "trace.json", "--allocator", "pytorch", "--verify", "--format", "json")
        return [policy["verified"] for policy in replayed["policies"]]

    traced(folder, "words")
    assert findings(folder, "unsafe-reuse") == ["error"] and verified() == [True]
    traced(folder, "words", "--twin")
    assert findings(folder, "unsafe-reuse") == [] and verified() == [True]
