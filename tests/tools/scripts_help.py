"""The scripts in tools/ print how they are used, and do nothing else, with --help.

    scripts_help.py FOLDER_OF_SCRIPTS
"""

import pathlib
import subprocess
import sys

scripts = sorted(pathlib.Path(sys.argv[1]).resolve().glob("*.sh"))
assert len(scripts) > 5, scripts
for script in scripts:
    done = subprocess.run([script, "--help"], cwd="/", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, (script, done)
    lines = [f"# {line}".rstrip() for line in done.stdout.splitlines()]
    assert len(lines) > 1 and "\n".join(lines) in script.read_text(encoding="utf-8"), (script, lines)
print(f"{len(scripts)} scripts")
