"""A user's work on record_stream in a capture, from the program to a proven plan: trace it, compare the allocators,
plan, execute the plan; and that a plan with one block moved onto a live one doesn't get through.

    replay_test.py --graphkit BINARY --workloads FOLDER --out FOLDER

The numbers are those of the head of testdata/workloads/record_stream.cu.
"""

import json

from expect import MIB
from graphkit_cli import Failure, run_test

# The graph's blocks and nodes by id: hidden states h_4, h_5; R_4 = Exchange of layer 4, F_5 = Forward of layer 5.
H4, H5 = 17, 20
R4, F5 = 9, 10

EXTENT = {"defer": 76 * MIB, "pytorch": 40 * MIB, "reuse": 28 * MIB, "optimal": 28 * MIB}
RESERVED = {"defer": 80 * MIB, "pytorch": 44 * MIB, "reuse": 32 * MIB, "optimal": 28 * MIB}
BOUND = 28 * MIB
ORDERS = 50


def expect(got, wanted, what):
    if got != wanted:
        raise Failure(f"{what}: {got}, expected {wanted}")


def execute(graphkit, arguments, exit_code=0):
    report = json.loads(graphkit.run(["replay", "--format", "json", *arguments], exit_code))
    return {policy["policy"]: policy for policy in report["policies"]}


def check_policies(policies):
    """From what PyTorch does by default down to the bound, each proved and executed."""
    for name, extent in EXTENT.items():
        expect(policies[name]["peak_extent_bytes"], extent, f"{name}, highest byte")
        expect(policies[name]["peak_reserved_bytes"], RESERVED[name], f"{name}, reserved")
    expect(policies["optimal"]["lower_bound_bytes"], BOUND, "lower bound")
    for name, policy in policies.items():
        expect(policy["verified"], True, f"{name}, verified")
        check_clean(policy, name)


def check_clean(policy, name):
    for execution in policy["executions"]:
        expect(execution["faults"], [], f"{name} on {execution['on']}, faults")
        if execution["checks"] == 0:
            raise Failure(f"{name} on {execution['on']}: no canary was checked")


def plant(plan, folder):
    """The plan with h_5 put where h_4 is, which R_4 may still read when F_5 writes h_5."""
    planted = json.loads(plan.read_text(encoding="utf-8"))
    places = {placement["block"]: placement for placement in planted["placements"]}
    places[H5]["offset"] = places[H4]["offset"]
    path = folder / "planted.json"
    path.write_text(json.dumps(planted), encoding="utf-8")
    return path


def check_planted(policy):
    pair = {"earlier": H4, "later": H5, "last_use": R4, "first_use": F5}
    expect(policy["verified"], False, "the planted plan, verified")
    expect(policy["graphs"][0]["unsafe"], [pair], "what verification names")
    faults = policy["executions"][0]["faults"]
    if not faults:
        raise Failure(f"executing the planted plan found nothing")
    for fault in faults:
        expect({key: fault[key] for key in pair}, pair, f"what seed {fault['seed']} names")


def check(graphkit, workloads):
    trace, _ = graphkit.trace(workloads / "record_stream", [], "record_stream")
    plan = graphkit.folder / "plan.json"
    graphkit.run(["plan", trace, "-o", plan])
    planted = plant(plan, graphkit.folder)
    orders = ["--execute", "soft", "--orders", ORDERS]
    check_policies(execute(graphkit, [trace, "--allocator", "all", *orders]))
    planned = execute(graphkit, [trace, "--allocator", plan, *orders])["plan"]
    expect(planned["peak_extent_bytes"], BOUND, "the plan, highest byte")
    expect(planned["verified"], True, "the plan, verified")
    check_clean(planned, "plan")
    check_planted(execute(graphkit, [trace, "--allocator", planted, *orders], exit_code=1)["plan"])


if __name__ == "__main__":
    run_test(check, "replay")
