"""Validates whole trace files against the JSON Schema, and checks that the schema refuses bad ones.

    validate_traces.py SCHEMA TESTDATA    0: as expected, 1: not, 77: python3-jsonschema isn't installed
"""

import json
import pathlib
import sys

SKIPPED = 77
# Bad files that are one JSON document with a mistake that a schema can see.
REFUSED = ["bad-address", "bad-device", "bad-missing-key", "bad-no-type", "bad-type-of-value", "bad-version", "bad-word"]


def main() -> int:
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("skipped: python3-jsonschema isn't installed")
        return SKIPPED
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    testdata = pathlib.Path(sys.argv[2])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    wrong = []
    validated = 0
    for path in sorted((testdata / "traces").glob("*.json")):
        if path.stem.startswith("bad-") or path.stem.endswith("truncated"):
            continue
        validated += 1
        for error in validator.iter_errors(json.loads(path.read_text())):
            wrong.append(f"{path.name}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
    for name in REFUSED:
        if validator.is_valid(json.loads((testdata / "traces" / f"{name}.json").read_text())):
            wrong.append(f"{name}.json: should be refused")
    print("\n".join(wrong) if wrong else f"{validated} traces are valid, {len(REFUSED)} are refused")
    return 1 if wrong or validated == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
