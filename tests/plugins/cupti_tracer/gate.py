"""From a program with three faults to its gate, as somebody who is new to graphkit sets it up."""

import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from harness import BUILD, Skipped, trace


def check(folder, expected, *words):
    done = subprocess.run([BUILD / "bin/graphkit", "check", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == expected, f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_three_faults_are_three_places_in_a_new_gate(folder):
    if shutil.which("addr2line") is None and shutil.which("llvm-addr2line") is None:
        raise Skipped("no addr2line here")
    for name, *words in (("good", "clean"), ("bad",)):
        code, _, err = trace(folder, BUILD / "tests/newcomer", *words, options=["-o", f"{name}.json"])
        assert code == 0, err
    source = pathlib.Path(__file__).parent / "newcomer.cu"
    line = {text.split("// ")[1]: at for at, text in enumerate(source.read_text().split("\n"), 1) if ";  // " in text}
    assert "passed" in check(folder, 0, "good.json", "--init", "ci/graphkit.json")
    config = ("--config", "ci/graphkit.json")
    check(folder, 0, "good.json", *config)
    places = [("graph-allocation-leak", line["scratch"]), ("missing-order", line["scale"]), ("exec-leak", line["instantiate"])]

    # GitHub shows ten annotations of each kind: the three places come first, each once, the race with both of its lines.
    shown = re.findall(r"^::error file=(.*?),line=(\d+),title=([\w-]+)::(.*)", check(folder, 1, "bad.json", *config, "--format", "github"),
                       re.MULTILINE)
    assert len(shown) <= 10, shown
    assert [(title, int(at)) for file, at, title, _ in shown if file.endswith("newcomer.cu")] == places, shown
    assert [title for _, _, title, _ in shown[:3]] == [title for title, _ in places], shown
    race = shown[1][3]
    assert f"newcomer.cu:{line['add']}: node 1 (Add)" in race and "(×4)" in race, race
    assert "after Scale" in race and "before Add" in race and "cudaStreamWaitEvent(stream 1, event)" in race, race
    # The graphs' memory is compared with the baseline, and the leak isn't in it.
    assert [title for _, _, title, _ in shown[3:]] == ["baseline-never-freed"] * 4, shown

    # GitLab reads JUnit: a case fails for each, and the log has the same places.
    log = check(folder, 1, "bad.json", *config, "--format", "junit", "-o", "graphkit.xml")
    cases = ElementTree.parse(folder / "graphkit.xml").getroot().iter("testcase")
    failed = {case.get("name") for case in cases if case.find("failure") is not None}
    assert failed == {title for title, _ in places} | {"baseline-never-freed"}, failed
    for title, at in places:
        assert re.search(rf"newcomer\.cu:{at}: (error|warning): .*\[{title}\] \(×4\)", log), (title, at, log)
    assert "--save-baseline ci/baseline.json" in log, log
