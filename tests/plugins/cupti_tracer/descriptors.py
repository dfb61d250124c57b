"""The tracer and the software device are guests: every descriptor is the program's."""

import json

from harness import BUILD, Skipped, count, load, trace

NODES = 20000
FILE_BYTES = 3 << 20


def descriptors(*words):
    return [BUILD / "tests/tracer_descriptors", *words]


def check_files(folder):
    """The program's files hold the bytes that it wrote."""
    for n in range(4):
        pattern = bytes((i + 7 * n) % 251 for i in range(251))
        want = (pattern * (FILE_BYTES // 251 + 1))[:FILE_BYTES]
        got = (folder / f"out{n}").read_bytes()
        assert got == want, f"out{n}: {len(got)} bytes of {FILE_BYTES}, or others"


def test_no_descriptor_is_held(folder):
    code, out, err = trace(folder, *descriptors("none", folder))
    assert code == 0 and out == "", (code, out, err)
    assert count(load(folder / "trace.json"), "node") == NODES


def test_files_of_a_program_that_closes_what_it_likes_are_its_own(folder):
    for how in ("twice", "from", "range", "all", "over", "reuse", "folder"):
        place = folder / how
        (place / "elsewhere").mkdir(parents=True)
        code, out, err = trace(place, *descriptors(how, place), options=["-o", "trace.json"])
        assert code == 0 and out == "" and "descriptors:" not in err, (how, code, out, err)
        check_files(place) if how != "reuse" else None
        records = load(place / "trace.json")
        assert count(records, "dropped") == 0, (how, records[-2])
        assert count(records, "node") == NODES + (3 if how == "reuse" else 2), (how, count(records, "node"))


def test_a_forked_child_has_its_own_descriptors_too(folder):
    (folder / "child").mkdir()
    code, out, err = trace(folder, *descriptors("forks", folder))
    assert code == 0, (code, out, err)
    check_files(folder)
    check_files(folder / "child")
    nodes = sorted(count(load(path), "node") for path in folder.glob("trace*.json"))
    assert nodes == [NODES + 2, NODES + 3], nodes


def without_growth(folder, how):
    """The trace when its file couldn't be opened again, and what stderr has of it."""
    path = folder / "trace.json"
    code, out, err = trace(folder, *descriptors(how, folder, path))
    if code == 77:
        raise Skipped("no chroot here")
    assert code == 0 and out == "", (how, code, out, err)
    check_files(folder)
    said = [line for line in err.splitlines() if line.startswith("graphkit: ") and not line.startswith("graphkit: warning")]
    ends = [line for line in said if line.endswith(("nothing more is recorded", "the trace ends here, and says so"))]
    assert len(ends) == 1, (how, err)
    return path, err


def check_ends_early(path):
    """A valid document that says how much is missing."""
    records = json.loads(path.read_text())["records"]
    assert records[-1]["type"] == "end" and records[-2]["type"] == "dropped", records[-2:]
    assert 1 <= count(records, "node") < NODES and records[-2]["records"] > 1000


def test_a_trace_that_was_moved_ends_where_it_is(folder):
    without_growth(folder, "moved")
    check_ends_early(folder / "moved.json")


def test_a_trace_that_was_deleted_leaves_the_program_alone(folder):
    path, err = without_growth(folder, "deleted")
    assert not path.exists() and "cannot open" in err, err


def test_a_file_in_the_place_of_the_trace_is_left_alone(folder):
    path, err = without_growth(folder, "replaced")
    assert path.read_bytes() == b"" and "was replaced by another file" in err, err


def test_a_trace_that_is_cut_short_does_not_kill_the_program(folder):
    _, err = without_growth(folder, "cut")
    assert "was cut short by another program; nothing more is recorded" in err, err


def test_where_no_descriptor_is_left_the_trace_ends(folder):
    path, err = without_growth(folder, "locked")
    assert "Too many open files" in err, err
    check_ends_early(path)


def test_behind_a_change_of_the_root_the_trace_ends(folder):
    path, _ = without_growth(folder, "jailed")
    check_ends_early(path)
