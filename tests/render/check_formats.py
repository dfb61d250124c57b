"""Reads what the presenters of `graphkit check` wrote with other programs' eyes: SARIF against its
JSON Schema, each result of it at a file and a line, JUnit as XML whose counts agree with its elements.

usage: check_formats.py FOLDER SARIF_SCHEMA

Exits 77 (skipped) where python3-jsonschema isn't installed.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from check_places import places, without  # noqa: E402

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is missing (python3-jsonschema)")
    sys.exit(77)


def sarif_problems(path: pathlib.Path, validator) -> list:
    log = json.loads(path.read_text(encoding="utf-8"))
    problems = [f"{path.name}: {'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(log)]
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        if rules[result["ruleIndex"]] != result["ruleId"]:
            problems.append(f"{path.name}: ruleIndex of {result['ruleId']} points elsewhere")
    return problems + [f"{path.name}: {rule} lies nowhere" for rule in without(places(log))]


# The attributes that Jenkins's schema has for each element, those it needs first (jenkinsci/xunit-plugin, junit-10.xsd at 031e285e).
JENKINS = {
    "testsuites": ((), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (("name", "tests", "failures", "errors"),
                  {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"}),
    "testcase": (("name",), {"time", "classname", "group"}),
    "failure": ((), {"type", "message"}), "error": ((), {"type", "message"}), "system-out": ((), set()),
}


def junit_problems(path: pathlib.Path) -> list:
    root = ElementTree.parse(path).getroot()
    problems = []
    for element in root.iter():
        needed, further = JENKINS.get(element.tag, ((), set()))
        problems += [f"{path.name}: {element.tag} is no element of JUnit"] * (element.tag not in JENKINS)
        problems += [f"{path.name}: {element.tag} has {name}" for name in element.keys() if name not in further.union(needed)]
        problems += [f"{path.name}: {element.tag} lacks {name}" for name in needed if name not in element.keys()]
    for suite in root.iter("testsuite"):
        for attribute, element in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            if int(suite.get(attribute)) != len(list(suite.iter(element))):
                problems.append(f"{path.name}: {attribute} of {suite.get('name')!r} is {suite.get(attribute)}")
    return problems


def main() -> int:
    folder, schema_path = map(pathlib.Path, sys.argv[1:3])
    schema = json.loads(schema_path.read_text(encoding="utf-8"))
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    sarif, junit = sorted(folder.glob("*.sarif")), sorted(folder.glob("*.xml"))
    problems = [p for f in sarif for p in sarif_problems(f, validator)] + [p for f in junit for p in junit_problems(f)]
    if len(sarif) < 3 or len(junit) < 3:
        problems.append(f"{folder}: the samples are missing")
    # A validator that accepts anything would prove nothing.
    if not list(validator.iter_errors({"version": "2.1.0", "runs": [{"results": []}]})):
        problems.append("the schema accepts a run without a tool")
    print("\n".join(problems) or f"{len(sarif)} SARIF and {len(junit)} JUnit files are valid")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
