"""The peak of reserved bytes means one thing: `check` and `analyze` print the same of every trace and snapshot in testdata.

    reserved_bytes.py GRAPHKIT FOLDER...
"""

import json
import pathlib
import subprocess
import sys


def document(graphkit: str, *words: object) -> dict:
    done = subprocess.run([graphkit, *map(str, words), "--format", "json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {}


def main() -> int:
    graphkit, *folders = sys.argv[1:]
    files = [file for folder in folders for pattern in ("*.json", "*.json.zst", "*.pickle") for file in sorted(pathlib.Path(folder).rglob(pattern))]
    compared, bad = 0, []
    for file in files:
        analyzed = document(graphkit, "analyze", file)
        if not analyzed.get("memory_moments"):
            continue
        figures = [analyzed["driver_memory"]["asked_bytes"], analyzed["memory_moments"]["peak_reserved"]["reserved_bytes"],
                   document(graphkit, "check", file)["traces"][0]["peak_reserved_bytes"]]
        compared += 1
        bad += [f"{file}: {figures}"] if len(set(figures)) > 1 else []
    print("\n".join([*bad, f"{compared} files, {len(bad)} with several figures"]))
    return 1 if bad or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
