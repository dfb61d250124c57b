"""The JSON of every view has the schema that testdata/schemas says: JSON Schema, made of what the views print of the files in
testdata, so that a key that goes, or whose type changes, is seen.

usage: json_schemas.py GRAPHKIT SOURCE [--update]     --update rewrites testdata/schemas
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

GRAPHKIT, TESTDATA, UPDATE = "", pathlib.Path(), False
# Objects whose keys are names of things, not of fields.
MAPS = {"nodes_by_type", "workspaces"}


def files(*patterns: str) -> list[str]:
    return [str(path.relative_to(TESTDATA)) for pattern in patterns for path in sorted(TESTDATA.glob(pattern))]


def commands() -> list[list[str]]:
    traces = files("traces/soft/*.json", "traces/hand_*.json")
    snapshots = files("import/snapshot.pickle", "torch-snapshots/*.pickle")
    drawings = files("import/*.dot")
    views = [["analyze", file] for file in [*traces, *snapshots, *drawings]]
    views += [["analyze", file, "--by", by] for file in traces[:4] + snapshots for by in ("stack", "pool")]
    views += [["analyze", *traces[:3]], ["analyze", *traces[2:]]]
    views += [["analyze", "estimate/measured.json.zst"]]
    views += [["estimate", file, "--sizes", "1,2,4,32", "--captured", "1,2,4,8"]
              for file in ("traces/soft/inference_server.json", "torch-traces/resnet.json.zst")]
    views += [["estimate", "traces/soft/inference_server.json", "--budget", "40MiB", "--histogram", "transcripts/requests.csv"]]
    views += [[file] for file in [*traces, *snapshots, *drawings, *files("minimalloc/input.12.csv", "import/profile.json")]]
    views += [["check", file, "--limit", "max-deferred=0,max-leaks=0,max-peak=1MiB"] for file in traces]
    views += [["diff", before, after] for before in traces[:5] for after in traces[:5]]
    views += [["diff", "traces/soft/changed_nodes.json", "traces/soft/exec_updates.json"]]  # kernels with other parameters
    views += [["diff", before, after] for before in snapshots[:3] for after in files("import/late.pickle") + snapshots[:3]]
    views += [["plan", file] for file in traces] + [["plan", file, "--trade"] for file in traces[:3]]
    views += [["survive", file, "--node", "0"] for file in traces]
    views += [["survive", "traces/soft/training_step.json", "--node", "6"]]  # to the chain's end
    views += [["replay", file] for file in traces] + [["replay", file, "--against-recorded"] for file in [*traces, *snapshots]]
    views += [["replay", file, "--setting", "expandable_segments"] for file in snapshots]
    views += [["export", file] for file in traces] + [["export", *traces[:2]]]
    views += [["analyze", file, "--coverage"] for file in [*traces, "torch-traces/half_captured.json.zst"]]
    views += [["attribute", f"kineto/{name}_capture.json.gz", f"kineto/{name}_replay.json.gz"] for name in ("sglang_decode", "vllm_pieces")]
    views += [["attribute", "import/trace.json", f"import/{name}.json"] for name in ("profile", "no_nodes")]
    views += [["check", "torch-traces/planted_record_stream.json.zst"]]  # findings with lines
    views += [["check", file, "--limit", "min-coverage=90%"] for file in ("torch-traces/half_captured.json.zst", traces[0])]
    views += [["where", "traces/soft/inference_server.json", "0x102400000", *at] for at in ([], ["--at", "launch:3"])]
    views += [["where", "torch-traces/planted_rebound_input.json.zst", "--from", "transcripts/sanitizer.log"]]
    views += [["where", file, "0x7e8000101400", "--at", "peak"] for file in [traces[0], snapshots[0]]]
    views += [["doctor"]]
    if (pathlib.Path(GRAPHKIT).resolve().parents[1] / "lib/graphkit/soft_cuda").is_dir():
        views += [["doctor", "--soft"], ["doctor", "--soft", "--list", "all"]]
        views += [["replay", "traces/soft/inference_server.json", "--allocator", "recorded", "--execute", "soft", "--orders", "1"]]
    return [[*view, "--format", "json"] for view in views] + [
        *(["replay", file, "--format", "timeline"] for file in traces),
        *(["import", "import/trace.json", *others, "--report", "-", "-o", os.devnull]
          for others in (["import/snapshot.pickle", "import/profile.json"], ["import/late.pickle"], ["import/step.dot"]))]


def document(command: list[str]) -> dict | None:
    """None: there is nothing to show, which stderr says."""
    done = subprocess.run([GRAPHKIT, *command], cwd=TESTDATA, capture_output=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"graphkit {' '.join(command)}: exit {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout) if done.stdout else None


def kind(value) -> str:
    names = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def schema_of(values: list, key: str = "") -> dict:
    """The kind of all of these values."""
    kinds = sorted({kind(value) for value in values})
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
    schema: dict = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    objects = [value for value in values if isinstance(value, dict)]
    if objects and key in MAPS:
        schema["additionalProperties"] = schema_of([item for value in objects for item in value.values()])
    elif objects:
        keys = dict.fromkeys(key for value in objects for key in value)
        schema["properties"] = {name: schema_of([value[name] for value in objects if name in value], name) for name in sorted(keys)}
        schema["required"] = sorted(name for name in keys if all(name in value for value in objects))
    items = [item for value in values if isinstance(value, list) for item in value]
    if items:
        schema["items"] = schema_of(items)
    return schema


def made() -> dict[str, dict]:
    """By the name of the schema: what the views print."""
    found: dict[str, list] = {}
    for command in commands():
        shown = document(command)
        if shown is not None:
            found.setdefault(shown["schema"], []).append(shown)
    schemas = {}
    for name, shown in sorted(found.items()):
        schema = schema_of(shown)
        schema["properties"]["schema"] = {"const": name}
        schema["properties"]["version"] = {"const": shown[0]["version"]}
        schemas[name] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **schema}
    return schemas


class Schemas(unittest.TestCase):
    maxDiff = None

    def test_the_views_print_what_the_schemas_say(self):
        folder = TESTDATA / "schemas"
        for name, schema in made().items():
            path = folder / f"{name}.schema.json"
            if UPDATE:
                path.parent.mkdir(exist_ok=True)
                path.write_text(json.dumps(schema, indent=1) + "\n")
            with self.subTest(schema=name):
                self.assertEqual(json.loads(path.read_text()), schema, "rewrite it with --update where that is meant")


if __name__ == "__main__":
    GRAPHKIT, TESTDATA = sys.argv[1], pathlib.Path(sys.argv[2]) / "testdata"
    UPDATE = "--update" in sys.argv
    unittest.main(argv=sys.argv[:1])
