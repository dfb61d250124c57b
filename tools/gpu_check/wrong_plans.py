"""Plans with one block moved onto another that needs its memory: `graphkit replay --execute` must find the destroyed
bytes. `graphkit replay --verify`, which judges by the proved order, picks the moves that are wrong. For tools/gpu_check.sh.

    wrong_plans.py GRAPHKIT DEVICE TRACE FOLDER [COUNT [SEED]]

Prints `found of wrong plans` and the moves that were missed. Exits with 1 where an end is neither a fault nor a clean run.
"""

import json
import pathlib
import random
import subprocess
import sys

ARGUMENTS = sys.argv[1:] + ["8", "1"][len(sys.argv) - 5 :]
GRAPHKIT, DEVICE, TRACE, FOLDER, COUNT, SEED = ARGUMENTS[:6]
PLAN = pathlib.Path(FOLDER, "wrong.plan.json")
FAULT, CLEAN = 1, 0


def graphkit(*words):
    done = subprocess.run([GRAPHKIT, *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def planted(plan, choice):
    """A copy with one block at another's place, and who was moved where; None: the arena has one block."""
    plan = json.loads(json.dumps(plan))
    arena = choice.randrange(len(plan["arenas"]))
    inside = [block for block in plan["placements"] if block["arena"] == arena and block["size"]]
    if len(inside) < 2:
        return None
    moved, onto = choice.sample(inside, 2)
    moved["offset"] = onto["offset"]
    plan["arenas"][arena]["peak_bytes"] = max(block["offset"] + block["size"] for block in plan["placements"] if block["arena"] == arena)
    for total in (plan, *plan["arenas"]):
        total["lower_bound_bytes"] = 0  # a wrong plan may be below it
    plan["peak_bytes"] = sum(arena["peak_bytes"] for arena in plan["arenas"])
    return plan, f"{moved['block']} onto {onto['block']}"


code, output = graphkit("plan", TRACE, "-o", str(PLAN))
if code:
    sys.exit(f"graphkit plan ended with {code}: {output.strip()}")
plan, choice = json.loads(PLAN.read_text()), random.Random(int(SEED))
wrong, missed = 0, []
for _ in range(50 * int(COUNT)):
    candidate = planted(plan, choice) if wrong < int(COUNT) else None
    if not candidate:
        continue
    PLAN.write_text(json.dumps(candidate[0]))
    code, output = graphkit("replay", TRACE, "--verify", "--allocator", str(PLAN))
    if code == CLEAN:
        continue
    if code == FAULT:
        code, output = graphkit("replay", TRACE, "--allocator", str(PLAN), "--execute", DEVICE)
    if code not in (FAULT, CLEAN):
        sys.exit(f"graphkit ended with {code}: {output.strip()}")
    wrong += 1
    if code == CLEAN:
        missed.append(candidate[1])
print(f"{wrong - len(missed)} of {wrong} wrong plans (seed {SEED})", *[f"missed: {move}" for move in missed], sep="; ")
